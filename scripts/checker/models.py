"""Writes the table of the models that the official package bfcl-eval knows: models.py > crates/checker/src/handler/models.tsv

A line has the name of a model, the class of its handler with the module below `bfcl_eval.model_handler`, whether it uses function
calling (`fc` or `prompt`), and whether names of functions have `_` for `.` (`underscores` or `dots`). The SDKs of vendors that the
handlers import are not needed. At the end are models that the package no longer has, with the decoder of its old handler
(`retired`).
"""

import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
import types


RETIRED = [(f"NousResearch/Hermes-2-{name}", "retired.hermes.HermesHandler", "prompt", "underscores") for name in
           ("Pro-Llama-3-8B", "Pro-Llama-3-70B", "Pro-Mistral-7B", "Theta-Llama-3-8B", "Theta-Llama-3-70B")]


class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives a module with all names in place of each module that is not installed."""

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] == "bfcl_eval":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: anything(name)
        module.__all__ = []
        return module

    def exec_module(self, module):
        pass


class Anything(type):
    """A class of which each attribute is one, too."""

    def __getattr__(cls, name):
        return anything(name)

    def __call__(cls, *args, **kwargs):
        # A decorator leaves what it decorates as it is.
        if len(args) == 1 and callable(args[0]) and not kwargs:
            return args[0]
        return lambda function=None, **_: function


def anything(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything(name, (), {})


def stub_what_is_missing():
    """Lets modules be imported that need what is not installed."""
    sys.meta_path.append(Missing())


def models():
    """Returns the models by name, as the package has them."""
    from bfcl_eval.constants.model_config import MODEL_CONFIG_MAPPING
    return MODEL_CONFIG_MAPPING


def main():
    stub_what_is_missing()
    print(f"# bfcl-eval {importlib.metadata.version('bfcl-eval')}; written by scripts/checker/models.py")
    for name, config in models().items():
        handler = config.model_handler
        module = handler.__module__.removeprefix("bfcl_eval.model_handler.")
        print(name, f"{module}.{handler.__name__}", "fc" if config.is_fc_model else "prompt",
              "underscores" if config.underscore_to_dot else "dots", sep="\t")
    for model in RETIRED:
        print(*model, sep="\t")


if __name__ == "__main__":
    main()
