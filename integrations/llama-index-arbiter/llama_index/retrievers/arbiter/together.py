"""Several things awaited at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def all_of(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Every result, in order; when one fails or the caller is cancelled, none is left running.

    Not a TaskGroup: the caller gets the error itself, as from a single one, and no group around it.
    """
    tasks: list[asyncio.Task[T]] = []
    try:
        tasks.extend(
            asyncio.create_task(c) for c in coroutines
        )  # may fail halfway, too: the tasks begun are in the list
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
