"""Examples of the tool missing-await."""

from __future__ import annotations

from tests.unit.fixes.examples import Example

EXAMPLES = (
    Example(
        error="TypeError: 'coroutine' object is not subscriptable",
        before="async def load():\n    return [1]\n\n\nasync def f():\n    x = load()[0]\n",
        after="async def load():\n    return [1]\n\n\nasync def f():\n    x = (await load())[0]\n",
    ),
    Example(
        error="AttributeError: 'coroutine' object has no attribute 'name'",
        before="class C:\n    async def user(self):\n        return 1\n\n    async def f(self):\n"
        "        user = self.user()  # of the session\n        return user.name\n",
        after="class C:\n    async def user(self):\n        return 1\n\n    async def f(self):\n"
        "        user = await self.user()  # of the session\n        return user.name\n",
        line=7,
    ),
    Example(
        error="RuntimeWarning: coroutine 'C.save' was never awaited",
        before="async def f(c):\n    c.save()\n",
        after="async def f(c):\n    await c.save()\n",
    ),
    Example(
        error="TypeError: object int can't be used in 'await' expression",
        before="async def f(x):\n    return await len(x)\n",
        after="async def f(x):\n    return len(x)\n",
    ),
    Example(
        error="RuntimeWarning: coroutine 'save' was never awaited",
        before="def f(c):\n    c.save()\n",
        line=2,
    ),
    Example(
        error="TypeError: 'coroutine' object is not iterable",
        before="async def load():\n    return [1]\n\n\nasync def f():\n    return await load()\n",
        line=6,
    ),
    Example(
        error="TypeError: 'coroutine' object is not iterable",
        before="from shop import rows\n\n\nasync def f(x):\n    return [r for r in rows(x)]\n",
        after="from shop import rows\n\n\nasync def f(x):\n    return [r for r in await rows(x)]\n",
        files={"shop.py": "async def rows(x):\n    return [x]\n"},
    ),
    Example(  # a method of nobody knows what; not the built-in around it, nor a function here
        error="TypeError: 'coroutine' object is not iterable",
        before="def half(xs):\n    return xs\n\n\nasync def f(c):\n"
        "    return list(half(c.rows()))\n",
        after="def half(xs):\n    return xs\n\n\nasync def f(c):\n"
        "    return list(half(await c.rows()))\n",
    ),
    Example(
        error="TypeError: 'coroutine' object is not iterable",
        before="def half(xs):\n    return xs\n\n\nasync def f(xs):\n    return list(half(xs))\n",
        line=6,
    ),
    Example(
        error="RuntimeWarning: coroutine 'load' was never awaited",
        before="import asyncio\n\n\nasync def f(xs):\n"
        "    await asyncio.gather(*(load(x) for x in xs))\n    return lambda x: load(x)\n",
        line=5,
    ),
    Example(
        error="TypeError: 'async_generator' object is not iterable",
        before="async def f(xs):\n    for x in xs:\n        print(x)\n",
        after="async def f(xs):\n    async for x in xs:\n        print(x)\n",
    ),
    Example(
        error="TypeError: 'async_generator' object is not iterable",
        before="async def f(xs):\n    return [x for x in xs]\n",
        after="async def f(xs):\n    return [x async for x in xs]\n",
    ),
    Example(
        error="TypeError: 'A' object does not support the context manager protocol (missed "
        "__exit__ method)",
        before="async def f(a):\n    with a as b:\n        return b\n",
        after="async def f(a):\n    async with a as b:\n        return b\n",
    ),
    Example(
        error="AssertionError: assert [] == [1]",
        before="class A:\n    async def put(self, x):\n        self.x = x\n\n"
        "    async def f(self):\n        self.put(1)\n",
        after="class A:\n    async def put(self, x):\n        self.x = x\n\n"
        "    async def f(self):\n        await self.put(1)\n",
    ),
    Example(
        error="RuntimeError: await wasn't used with future",
        before="import asyncio\n\n\nasync def f(xs):\n    ys = asyncio.gather(*xs)\n"
        "    return list(ys)\n",
        after="import asyncio\n\n\nasync def f(xs):\n    ys = await asyncio.gather(*xs)\n"
        "    return list(ys)\n",
        line=6,
    ),
)
