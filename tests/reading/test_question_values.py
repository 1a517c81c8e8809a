"""Numbers and dates of a question, as people write them."""

from datetime import date

import pytest

from clew.query.tree import Value
from clew.query.values import date_of, in_unit_of, values_in


def number(value: float, width: float = 0.0, unit: str = "") -> Value:
    return Value(value, width=width, unit=unit)


def days(first: str, last: str = "") -> Value:
    low, high = (date.fromisoformat(day).toordinal() - 1 for day in (first, last or first))
    return Value(low, date=True, width=high - low)


def values(text: str) -> dict[str, list[Value]]:
    return {text[start:stop]: list(found) for (start, stop), found in values_in(text).items()}


@pytest.mark.parametrize(
    ("written", "hours"),
    [
        ("10am", 10), ("10:30 p.m", 22.5), ("9:05", 9 + 5 / 60), ("4 o'clock", 4), ("half past nine", 9.5),
        ("a quarter to 5pm", 16.75), ("noon", 12),
    ],
)  # fmt: skip
def test_times_of_day(written, hours):
    (found,) = values(f"meetings at {written} today")[written]
    assert found.date
    assert found.number * 24 == pytest.approx(hours)


@pytest.mark.parametrize(
    ("text", "written", "first", "last"),
    [
        ("meetings on jan 2", "jan 2", 102, 102),
        ("born on the 3rd of May", "3rd of May", 503, 503),
        ("hired in March", "March", 301, 331),
    ],
)
def test_days_and_months_of_no_year(text, written, first, last):
    assert values(text)[written] == [Value(first, date=True, width=last - first, yearly=True)]


def test_no_day_of_the_calendar_is_none():
    assert not any(v.yearly for found in values("feb 30").values() for v in found)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("7", 7), ("-5", -5), ("2.75", 2.75), ("1,250,000", 1_250_000), ("3.5k", 3_500),
        ("100 thousand", 100_000), ("$3.5 million", 3_500_000), ("2bn", 2e9), ("12 hundred", 1_200),
        ("five", 5), ("Twenty", 20), ("dozen", 12), ("half a million", 500_000), ("3 grand", 3_000),
        ("quarter of a billion", 2.5e8), ("hundred", 100),
    ],
)  # fmt: skip
def test_a_number_is_read(written, meant) -> None:
    assert values(f"more than {written} of them") == {written: [number(meant)]}


@pytest.mark.parametrize(
    "written",
    [
        "3 May 1999", "3rd May 1999", "3 may, 1999", "May 3, 1999", "may 3rd 1999", "1999-05-03",
    ],
)  # fmt: skip
def test_a_day_is_read_in_its_usual_spellings(written) -> None:
    assert values(f"before {written}?") == {written: [days("1999-05-03")]}


@pytest.mark.parametrize("written", ["September 2001", "sept 2001", "Sep. 2001", "september of 2001"])
def test_a_month_is_all_of_its_days(written) -> None:
    assert values(f"in {written}?") == {written: [days("2001-09-01", "2001-09-30")]}


def test_the_last_month_of_a_year_ends_with_it() -> None:
    assert date_of("December 1999") == days("1999-12-01", "1999-12-31")


def test_a_year_is_a_number_or_all_of_its_days() -> None:
    assert values("since 1984?") == {"1984": [number(1984), days("1984-01-01", "1984-12-31")]}


def test_a_decade_is_its_ten_years() -> None:
    assert values("in the 1980s") == {"1980s": [number(1980, 9), days("1980-01-01", "1989-12-31")]}


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("nineties", 1990, 1999), ("'90s", 1990, 1999), ("19th century", 1801, 1900), ("1700s", 1700, 1799),
        ("1910s", 1910, 1919), ("2000s", 2000, 2009),
    ],
)  # fmt: skip
def test_a_period_is_its_years(written, first, last) -> None:
    meant = [number(first, last - first), days(f"{first}-01-01", f"{last}-12-31")]
    assert values(f"films of the {written}?") == {written: meant}


def test_what_is_too_large_for_a_year_is_a_number_alone() -> None:
    assert values("over 2500 m") == {"2500": [number(2500, unit="m")]}
    assert values("over 2500 of them") == {"2500": [number(2500)]}


def test_a_year_with_a_multiplier_is_a_number_alone() -> None:
    assert values("1.2 thousand") == {"1.2 thousand": [number(1200)]}


def test_each_value_stands_at_its_place() -> None:
    assert values_in("between 3 and 40") == {(8, 9): (number(3),), (14, 16): (number(40),)}


@pytest.mark.parametrize(
    "text", ["HP-40", "M12", "v2.0", "room 101b", "the 3rd", "done", "often", "maybe 1x"]
)
def test_codes_and_words_are_no_numbers(text) -> None:
    assert values(text) == {}


@pytest.mark.parametrize("text", ["31 February 1999", "1999-13", "soon", "1999"])
def test_what_is_no_day_or_month_is_no_date(text) -> None:
    assert date_of(text) is None


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("between 1 and 10 March 2024", {"1": days("2024-03-01")}),
        ("from 28 February to 3 March 2024", {"28 February": days("2024-02-28")}),
        ("between March 1 and March 10, 2024", {"March 1": days("2024-03-01")}),
        ("from January to March 2024", {"January": days("2024-01-01", "2024-01-31")}),
    ],
)
def test_the_year_of_a_date_is_that_of_the_one_behind_it(text, first):
    found = values(text)
    assert {written: found[written] for written in first} == {w: [day] for w, day in first.items()}


def test_a_number_before_a_month_alone_is_no_day():
    assert values("5 and March 2024")["5"] == [number(5)]


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("the second half of 2024", "2024-07-01", "2024-12-31"),
        ("Q1 2024", "2024-01-01", "2024-03-31"),
        ("the last quarter of 2023", "2023-10-01", "2023-12-31"),
        ("H1 2022", "2022-01-01", "2022-06-30"),
    ],
)
def test_parts_of_a_year(written, first, last):
    assert [days(first, last)] in values(f"sold in {written}").values()


def test_a_number_is_in_the_unit_of_the_label():
    assert in_unit_of("copies sold in millions", number(5e6)) == number(5)
    assert in_unit_of("copies sold in millions", number(5)) == number(5)
    assert in_unit_of("copies sold", number(5e6)) == number(5e6)
    assert in_unit_of("runtime min", number(2, unit="hours")) == number(120)
    assert in_unit_of("weight g", number(2.5, unit="kg")) == number(2500)
    assert in_unit_of("running time", number(2, unit="hours")) == number(2)
    assert in_unit_of("weight kg", number(2, unit="hours")) == number(2)
    assert in_unit_of("length min", number(2.3, unit="hours")) == number(138)
    assert in_unit_of("speed km per hour", number(120, unit="minutes")) == number(120)
    assert in_unit_of("speed km per hour", number(100, unit="miles")) == number(160.9344)
    assert in_unit_of("sold in millions of litres", number(5e6, unit="litres")) == number(5)


@pytest.mark.parametrize(
    ("text", "written", "value", "unit"),
    [
        ("longer than an hour and a half", "an hour and a half", 1.5, "hour"),
        ("flights under half an hour", "half an hour", 0.5, "hour"),
        ("more than a kilo", "a kilo", 1, "kilo"),
        ("over 3.5 tonnes", "3.5", 3.5, "tonnes"),
    ],
)
def test_an_amount_has_its_unit(text, written, value, unit):
    assert values(text) == {written: [number(value, unit=unit)]}


@pytest.mark.parametrize(
    ("text", "written", "expected"),
    [
        ("between 1 and 1.5 million euros", "1", number(1e6)),
        ("from 5 to 10k", "5", number(5000)),
        ("one or two million", "one", number(1e6)),
        ("between 1 and 2 hours", "1", number(1, unit="hours")),
        ("between 200 and 1 million", "200", number(200)),
        ("in 1999 and 2 million copies", "1999", number(1999)),
        ("3 films in 2 hours", "3", number(3)),
    ],
)
def test_a_number_is_counted_as_the_one_that_it_leads_to(text, written, expected):
    assert values(text)[written][0] == expected


@pytest.mark.parametrize("text", ["what did he do in an hour", "what is more than a second film"])
def test_a_unit_alone_is_no_amount(text):
    assert values(text) == {}
