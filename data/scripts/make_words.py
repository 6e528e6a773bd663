"""Write data/text/words.csv: words and sentences with categories, languages and closed cycles.

The texts are written for this project (CC0). Run from the project's root: python data/scripts/make_words.py
"""

from __future__ import annotations

import polars as pl

from explorer.paths import data_folder

CYCLES = {
    "weekdays": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "months": [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    "hours": ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
    "compass": ["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"],
    "colours": [
        "red",
        "vermilion",
        "orange",
        "amber",
        "yellow",
        "chartreuse",
        "green",
        "teal",
        "blue",
        "indigo",
        "violet",
        "magenta",
    ],
}
FRAMES = {
    "weekdays": ("{}", "The meeting is on {}.", "She was born on a {}."),
    "months": ("{}", "The festival takes place in {}.", "It rained all through {}."),
    "hours": ("{} o'clock", "The train leaves at {} o'clock.", "We had to wait until {} o'clock."),
    "compass": ("{}", "The wind comes from the {}.", "They walked towards the {}."),
    "colours": ("{}", "The wall was painted {}.", "He wore a {} scarf."),
}
NOUNS = {
    "animals": {
        "mammals": "dog cat horse cow elephant lion wolf rabbit",
        "birds": "eagle sparrow owl penguin parrot swan",
        "fish": "salmon trout shark tuna herring carp",
        "insects": "ant bee butterfly beetle mosquito moth",
    },
    "food": {
        "fruit": "apple banana cherry grape lemon peach pear plum",
        "vegetables": "carrot onion potato cabbage spinach lettuce",
        "dishes": "soup bread cheese pasta pizza salad",
    },
    "objects": {
        "vehicles": "car bus train bicycle ship airplane truck tram",
        "tools": "hammer screwdriver saw wrench drill pliers",
        "instruments": "piano violin guitar trumpet flute drum cello",
        "clothes": "shirt trousers coat hat glove shoe",
        "furniture": "table chair bed sofa desk cupboard",
        "metals": "gold silver iron copper lead tin",
    },
    "people": {
        "professions": "doctor teacher farmer lawyer carpenter nurse baker pilot",
        "family": "mother father sister brother uncle aunt",
        "body": "hand foot eye ear nose mouth",
    },
    "places": {
        "countries": "France Germany Spain Italy Japan China Brazil Egypt",
        "cities": "Paris Berlin Madrid Rome Tokyo Beijing Brasilia Cairo",
        "nature": "mountain river forest desert island ocean",
        "trees": "oak pine birch maple willow palm",
    },
    "ideas": {
        "emotions": "joy anger fear sadness surprise disgust",
        "shapes": "circle square triangle cube sphere spiral",
        "science": "physics chemistry biology geology astronomy mathematics",
    },
}
NUMBERS = {
    "English": "one two three four five six seven eight nine ten",
    "French": "un deux trois quatre cinq six sept huit neuf dix",
    "German": "eins zwei drei vier fünf sechs sieben acht neun zehn",
    "Spanish": "uno dos tres cuatro cinco seis siete ocho nueve diez",
    "Italian": "uno due tre quattro cinque sei sette otto nove dieci",
}
TOPICS = {
    "weather": (
        "rain fell on the town",
        "the sun warmed the valley",
        "snow covered the road",
        "a storm broke the trees",
    ),
    "sport": (
        "the team won the match",
        "the runner crossed the line",
        "a player missed the goal",
        "the coach praised the squad",
    ),
    "cooking": (
        "the cook tasted the soup",
        "a baker kneaded the dough",
        "the guests ate the cake",
        "the waiter brought the menu",
    ),
    "money": (
        "the bank raised the rate",
        "a client signed the loan",
        "the shop lowered its prices",
        "the firm paid its debts",
    ),
    "medicine": (
        "the nurse dressed the wound",
        "a doctor read the scan",
        "the patient took the pills",
        "the surgeon washed her hands",
    ),
    "travel": (
        "the ferry left the harbour",
        "a tourist lost the map",
        "the guide showed the castle",
        "the plane reached the city",
    ),
    "music": (
        "the choir sang the hymn",
        "a pianist played the sonata",
        "the crowd heard the concert",
        "the band tuned its guitars",
    ),
    "school": (
        "the pupil solved the problem",
        "a teacher marked the essays",
        "the class read the poem",
        "the student passed the exam",
    ),
}
MOODS = {
    "statement": lambda s: f"{s[0].upper()}{s[1:]}.",
    "report": lambda s: f"They say that {s}.",
    "question": lambda s: f"Is it true that {s}?",
    "doubt": lambda s: f"It is not certain that {s}.",
}
COLUMNS = ("text", "category", "subcategory", "form", "language", "cycle", "position")


def rows() -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for cycle, members in CYCLES.items():
        for frame in FRAMES[cycle]:
            form = "word" if " " not in frame or frame.startswith("{}") else f"frame: {frame}"
            found += [
                (frame.format(word), "cycles", cycle, form, "English", cycle, place)
                for place, word in enumerate(members)
            ]
    for category, groups in NOUNS.items():
        for group, words in groups.items():
            found += [(word, category, group, "word", "English", None, None) for word in words.split()]
    for language, words in NUMBERS.items():
        found += [
            (f"{word}", "numbers", language, "word", language, None, place + 1)
            for place, word in enumerate(words.split())
        ]
    for topic, clauses in TOPICS.items():
        for clause in clauses:
            found += [(make(clause), "sentences", topic, mood, "English", None, None) for mood, make in MOODS.items()]
    return found


def main() -> None:
    frame = pl.DataFrame(rows(), schema=list(COLUMNS), orient="row").unique("text", keep="first", maintain_order=True)
    target = data_folder() / "text" / "words.csv"
    target.parent.mkdir(parents=True, exist_ok=True)
    frame.write_csv(target)
    print(f"{frame.height} items, {frame['text'].n_unique()} different texts -> {target.name}")


if __name__ == "__main__":
    main()
