#!/usr/bin/env python3
"""usings.py ROOT: every using declaration and namespace alias of a source file is used in it."""
import re
import subprocess
import sys

unused = 0
for path in subprocess.check_output(["git", "-C", sys.argv[1], "ls-files", "*.cpp"], text=True).split():
    text = open(f"{sys.argv[1]}/{path}").read()
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', "", text, flags=re.S)
    for name in re.findall(r"^ *(?:using (?:\w+::)+|namespace )(\w+)(?:;| = )", text, re.M):
        if len(re.findall(rf"\b{name}\b", text)) < 2:
            print(f"{path}: {name} is not used")
            unused += 1
sys.exit(unused > 0)
