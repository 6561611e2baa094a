"""What a log holds beside good requests, all invented."""

# Requests that ask nothing.
SPAM = ("", "hi", "test", "hey", "test test", "??", "qwertyuiop", "ooooooooooooooooooooooo", "   ", "hello", "sdkfjhsdkfjh", "-")

# What was sent in the place of function docs.
UNUSABLE = (
    "a function that tells me the weather would be nice",
    "<html><head><title>502</title></head><body>Bad gateway</body></html>",
    "[null]",
    "{}",
    '[{"description": "Rings a bell.", "parameters": {"type": "object", "properties": {}}}]',
    '[{"name": "ring_bell", "description": "Rings a bell.", "parameters": {"type": "object", "properties": {"times": {"ty',
    '["look things up", "write a mail"]',
    'def ring_bell(times: int = 1):\n    """Rings the bell of the shop."""\n    for _ in range(times):\n        bell.ring()\n',
    "none",
    "",
)

# Personal data, invented: reserved domains, numbers set aside for fiction, the usual test card.
PERSONAL = (
    ("Confirm to ragnhild.moe@example.org.", "ragnhild.moe@example.org"),
    ("You can reach me at +1 (415) 555-0142.", "+1 (415) 555-0142"),
    ("Charge 4111 1111 1111 1111.", "4111 1111 1111 1111"),
)
