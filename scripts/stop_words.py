"""Makes analyzers/stop_words/*.txt from the stop word lists of Apache Lucene.

    python -m scripts.stop_words lucene-analysis-common-10.4.0.jar

Elasticsearch's stop filter has these lists as `_german_` and so on, but offers no way to read them,
and a search must know them. The jar is in the folder `lib` of Elasticsearch. English is not in it:
Lucene has its list in Java. Of Hebrew, Polish, Ukrainian and Vietnamese it has none.
"""

import sys
from pathlib import Path
from zipfile import ZipFile

TARGET = Path(__file__).resolve().parent.parent / "analyzers" / "stop_words"

SNOWBALL = (
    "danish", "dutch", "finnish", "french", "german", "hungarian", "irish", "italian",
    "norwegian", "portuguese", "russian", "spanish", "swedish",
)  # fmt: skip
OTHERS = {
    "arabic": "ar",
    "armenian": "hy",
    "basque": "eu",
    "bengali": "bn",
    "catalan": "ca",
    "czech": "cz",
    "estonian": "et",
    "greek": "el",
    "hindi": "hi",
    "indonesian": "id",
    "lithuanian": "lt",
    "persian": "fa",
    "romanian": "ro",
    "serbian": "sr",
    "thai": "th",
    "turkish": "tr",
}


def words(text: str) -> list[str]:
    """The words of a list, without its comments, in alphabetical order."""
    words: set[str] = set()
    for line in text.splitlines():
        words.update(line.partition("|")[0].partition("#")[0].split())
    return sorted(words)


def main() -> None:
    """Writes one file per language, one word per line."""
    with ZipFile(sys.argv[1]) as jar:
        names = {language: f"snowball/{language}_stop.txt" for language in SNOWBALL}
        names |= {language: f"{code}/stopwords.txt" for language, code in OTHERS.items()}
        for language, name in names.items():
            text = jar.read(f"org/apache/lucene/analysis/{name}").decode()
            (TARGET / f"{language}.txt").write_text("\n".join(words(text)) + "\n")


if __name__ == "__main__":
    main()
