"""Question words, pronouns and auxiliary verbs that the stop words of Elasticsearch leave out.

Selected by hand: they say little about what is searched for, as in `pourquoi utiliser flow`. Words
that are often typed without their accents are there in both forms.
"""

from collections.abc import Mapping

_TEXTS = {
    "english": """
        about all also am any because been being can could did do does doing during each had
        has have having he her here hers him his how i i'm i've its just me more most my
        myself our ours she should so some than them those through too us very want was we
        were what when where which while who whom whose why would you your yours
    """,
    "french": """
        aussi avoir ca cela chaque combien comment dois doit etre faire fait faut laquelle
        lequel lesquelles lesquels moins ou où peut peuvent peux plus pourquoi pouvez
        pouvons puis quand quoi si tous tout toute toutes tres très veut veux ça être
    """,
    "german": """
        beim bitte darf dürfen geht gibt habt hast kannst könnten mehr möchte mögen tun tut
        viele wann warum wem wen wer weshalb wessen wieso wieviel wofür woher wohin womit
        wozu
    """,
    "spanish": """
        adónde así cuales cualquier cuanta cuantas cuanto cuantos cuál cuáles cuándo cuánta
        cuántas cuánto cuántos cómo debe deben debo dónde hace hacen hacer hago mas menos
        podemos puede pueden puedes puedo quiere quiero quién quiénes toda todas todo todos
    """,
    "italian": """
        avere cos cosa deve devo devono essere fare molto perche piu possiamo posso possono
        puo puoi può quali quando voglio vuole
    """,
    "portuguese": """
        aonde cada deve devem devo estar faz fazer faço onde pode podem podemos porque
        porquê posso quais quanta quantas quanto quantos quer quero ser ter toda todas todo
        todos
    """,
    "dutch": """
        doet erg gaan gaat hoeveel jouw jullie kunt mag moeten waar waarmee waarom waarvoor
        wanneer welk welke willen wilt zeer
    """,
    # What stands alone behind an English word.
    "korean": """
        가 과 는 도 로 를 만 에 와 은 을 의 이
    """,
}

FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(text.split()) for name, text in _TEXTS.items()
}
