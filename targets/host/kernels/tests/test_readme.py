"""The README names what the libraries export."""

import pytest
import readme
from conftest import BUILD


@pytest.mark.parametrize("language, library", [("C", "c"), ("C++", "cpp"), ("Rust", "rust")])
def test_the_table_has_every_export(language, library):
    exports = set(readme.symbols(BUILD / f"kernels_{library}.so"))
    listed = {name for members in readme.exports().values() for name, languages in members.items() if language in languages}
    assert exports == listed


def test_the_tables_are_those_of_today():
    text = (readme.FOLDER / "README.md").read_text()
    assert readme.written(text) == text
