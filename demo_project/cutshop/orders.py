"""Orders: pieces to cut, and what a customer pays for them."""

from __future__ import annotations

from cutshop.curve import Spline
from cutshop.prices import combined_rate, cut_price, express_fee, setup_price, to_cents, vat

FREE_SHIPPING_FROM = 10_000
SMALLEST_DISCOUNTED = 5_000


class Item:
    """``quantity`` pieces with the same outline."""

    def __init__(self, name: str, outline: Spline, material: str, quantity: int = 1) -> None:
        if quantity < 1:
            raise ValueError(f"{name}: quantity {quantity} is less than one piece")
        self.name = name
        self.outline = outline
        self.material = material
        self.quantity = quantity

    def piece_price(self) -> int:
        """Price of one piece."""
        return cut_price(self.outline.length(), self.material)

    def price(self) -> int:
        """Price of all pieces."""
        return self.quantity * self.piece_price()


class Order:
    """What a customer wants, and what it costs."""

    def __init__(
        self, country: str, years: int = 0, coupon: str | None = None, days: int = 5
    ) -> None:
        self.country = country
        self.years = years
        self.coupon = coupon
        self.days = days
        self.items: list[Item] = []

    def add(self, item: Item) -> None:
        """Put ``item`` on the order; more of the same piece is counted together."""
        for known in self.items:
            if (known.name, known.material) == (item.name, item.material):
                known.quantity += item.quantity
                return
        self.items.append(item)

    def n_pieces(self) -> int:
        """Number of pieces."""
        return sum(item.quantity for item in self.items)

    def goods(self) -> int:
        """Price of the pieces, with one set-up for each material."""
        materials = {item.material for item in self.items}
        return sum(item.price() for item in self.items) + sum(map(setup_price, materials))

    def discount(self) -> int:
        """What is taken off the goods; nothing off small orders."""
        goods = self.goods()
        if goods < SMALLEST_DISCOUNTED:
            return 0
        return to_cents(goods * combined_rate(self.n_pieces(), self.years, self.coupon))

    def shipping(self) -> int:
        """Flat price for sending it, free for large orders."""
        if self.goods() >= FREE_SHIPPING_FROM:
            return 0
        return 690 if self.country == "DE" else 1490

    def net(self) -> int:
        """Price before tax."""
        goods = self.goods() - self.discount()
        return goods + express_fee(goods, self.days) + self.shipping()

    def total(self) -> int:
        """Price with tax."""
        net = self.net()
        return net + vat(net, self.country)

    def invoice(self) -> list[str]:
        """The lines of the invoice."""
        lines = [f"{item.quantity} x {item.name}: {money(item.price())}" for item in self.items]
        if self.discount():
            lines.append(f"Discount: -{money(self.discount())}")
        lines.append(f"Total: {money(self.total())}")
        return lines


def money(cents: int) -> str:
    """``cents`` as it stands on an invoice."""
    return f"{cents // 100}.{cents % 100:02d} EUR"
