"""Examples of the tool missing-await."""

from __future__ import annotations

from tests.unit.fixes.examples import Example, in_f

EXAMPLES = (
    Example("TypeError: 'coroutine' object is not subscriptable",
            "async def load():\n    return [1]\n\n\nasync def f():\n    x = load()[0]\n",
            "async def load():\n    return [1]\n\n\nasync def f():\n    x = (await load())[0]\n"),
    Example("AttributeError: 'coroutine' object has no attribute 'name'",
            "class C:\n    async def user(self):\n        return 1\n\n    async def f(self):\n"
            "        user = self.user()  # of the session\n        return user.name\n",
            "class C:\n    async def user(self):\n        return 1\n\n    async def f(self):\n"
            "        user = await self.user()  # of the session\n        return user.name\n",
            line=7),
    Example("RuntimeWarning: coroutine 'C.save' was never awaited",
            "async def f(c):\n    c.save()\n", "async def f(c):\n    await c.save()\n"),
    Example("TypeError: object int can't be used in 'await' expression",
            "async def f(x):\n    return await len(x)\n", "async def f(x):\n    return len(x)\n"),
    in_f("c", "RuntimeWarning: coroutine 'save' was never awaited", "c.save()", line=2),
    Example("TypeError: 'coroutine' object is not iterable",
            "async def load():\n    return [1]\n\n\nasync def f():\n    return await load()\n",
            line=6),
    Example("TypeError: 'coroutine' object is not iterable",
            "from shop import rows\n\n\nasync def f(x):\n    return [r for r in rows(x)]\n",
            "from shop import rows\n\n\nasync def f(x):\n    return [r for r in await rows(x)]\n",
            files={"shop.py": "async def rows(x):\n    return [x]\n"}),
    # a method of nobody knows what; not the built-in around it, nor a function here
    Example("TypeError: 'coroutine' object is not iterable",
            "def half(xs):\n    return xs\n\n\nasync def f(c):\n    return list(half(c.rows()))\n",
            "def half(xs):\n    return xs\n\n\nasync def f(c):\n"
            "    return list(half(await c.rows()))\n"),
    Example("TypeError: 'coroutine' object is not iterable",
            "def half(xs):\n    return xs\n\n\nasync def f(xs):\n    return list(half(xs))\n",
            line=6),
    Example("RuntimeWarning: coroutine 'load' was never awaited",
            "import asyncio\n\n\nasync def f(xs):\n"
            "    await asyncio.gather(*(load(x) for x in xs))\n    return lambda x: load(x)\n",
            line=5),
    Example("TypeError: 'async_generator' object is not iterable",
            "async def f(xs):\n    for x in xs:\n        print(x)\n",
            "async def f(xs):\n    async for x in xs:\n        print(x)\n"),
    Example("TypeError: 'async_generator' object is not iterable",
            "async def f(xs):\n    return [x for x in xs]\n",
            "async def f(xs):\n    return [x async for x in xs]\n"),
    Example("TypeError: 'A' object does not support the context manager protocol (missed "
            "__exit__ method)",
            "async def f(a):\n    with a as b:\n        return b\n",
            "async def f(a):\n    async with a as b:\n        return b\n"),
    Example("AssertionError: assert [] == [1]",
            "class A:\n    async def put(self, x):\n        self.x = x\n\n"
            "    async def f(self):\n        self.put(1)\n",
            "class A:\n    async def put(self, x):\n        self.x = x\n\n"
            "    async def f(self):\n        await self.put(1)\n"),
    Example("RuntimeError: await wasn't used with future",
            "import asyncio\n\n\nasync def f(xs):\n    ys = asyncio.gather(*xs)\n"
            "    return list(ys)\n",
            "import asyncio\n\n\nasync def f(xs):\n    ys = await asyncio.gather(*xs)\n"
            "    return list(ys)\n", line=6),
)  # fmt: skip
