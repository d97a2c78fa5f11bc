"""Names that code binds and uses."""

import ast

from pytest_bayesloc.syntax.nodes import attributes_in, every_bound, names_in, stored_names

CODE = """
import os.path as paths
from sums import *

class Basket:
    def add(self, item, *more):
        for one in more:
            self.items[one] = item.price
"""
TREE = ast.parse(CODE)


def test_names_are_those_of_variables_and_attributes_of_their_own() -> None:
    assert names_in(TREE) == {"one", "more", "self", "item"}
    assert stored_names(TREE) == {"one"}
    assert attributes_in(TREE) == {"items", "price"}


def test_whatever_a_file_binds_in_any_scope_is_bound() -> None:
    assert every_bound(TREE) == {"paths", "*", "Basket", "add", "self", "item", "more", "one"}
