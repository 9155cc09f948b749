# SPDX-License-Identifier: MIT
"""All valid traces by name: every public function of the modules below writes one and returns its layout.Trace, or
several of them in a list. BEYOND: those that babeltrace 2 does not read."""
import inspect

import cases_beyond
import cases_names
import cases_packets
import cases_values


def of(*modules):
	return {name: function for module in modules for name, function in inspect.getmembers(module, inspect.isfunction)
	        if function.__module__ == module.__name__ and list(inspect.signature(function).parameters) == ["directory"]}


CASES = of(cases_values, cases_names, cases_packets)
BEYOND = of(cases_beyond)
