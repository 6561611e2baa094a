"""The invented content of a log besides good requests."""

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
    '# rings the bell\nbell = Bell("shop")\nfor _ in range(times):\n    bell.ring()\n',
    "none",
    "",
)

# Personal data, invented, and none of it set aside for examples in a way that programs know: those values stay as they
# are.
EMAIL = "ragnhild.moe@quaylantern-post.no"
OTHER_EMAIL = "t.okafor+tides@mail.gullrock-rowing.co.uk"
DESK_EMAIL = "permits@oldsquare-stalls.no"
PHONE = "+44 20 7946 0958"
CARD = "4929 1777 3310 5825"
SSN = "731-58-4092"
API_KEY = "Zt7mQ2vLx94KdR8wNb3H"
# Shown by the words of a question alone; the recorded call has them under names that say nothing.
NATIONAL = "07946 315 402"
NATIONAL_AS_CALLED = "07946315402"
SPACED_SSN = "518 27 6640"
PASSWORD = "Brygge!72kai"
VALUES = (EMAIL, OTHER_EMAIL, DESK_EMAIL, PHONE, CARD, SSN, API_KEY, NATIONAL, NATIONAL_AS_CALLED, SPACED_SSN, PASSWORD)

# Sentences that give one away, and what they give away.
PERSONAL = (
    (f"Confirm to {EMAIL}.", EMAIL),
    (f"You can reach me at {PHONE}.", PHONE),
    (f"Charge {CARD}.", CARD),
)
MORE_PERSONAL = (
    (f"My social security number is {SSN}.", SSN),
    (f"The API key is {API_KEY}.", API_KEY),
    (f"Tell {EMAIL} about it.", EMAIL),
    (f"Pay with card {CARD}.", CARD),
)
