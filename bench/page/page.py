#!/usr/bin/env python3
"""How fast the web page is, by Chromium's own performance entries: first paint, and the longest task while 50,000
characters are pasted and translated, one more is typed, and a sentence is opened; and how long the translation takes, with and
without "More careful". Prints one JSON line. Usage: page.py URL [RUNS]
The URL must be on this machine: without HTTPS, browsers let only local pages write to the clipboard."""
import json
import shutil
import statistics
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

SENTENCES = ["The %d dogs play in the snow near the old station, and nobody is watching them." % n for n in range(5000)]


def measure(driver, url, careful=False, characters=50000):
    driver.get("about:blank")
    driver.get(url)
    driver.execute_script("""
        window.tasks = [];
        new PerformanceObserver((l) => tasks.push(...l.getEntries().map((e) => e.duration))).observe({type: 'longtask', buffered: true});""")
    until(driver, "document.querySelectorAll('#target option').length >= 1")
    until(driver, "performance.getEntriesByName('first-contentful-paint').length === 1")
    paint = driver.execute_script("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    text = "\n".join(SENTENCES)[:characters]
    driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    driver.execute_async_script("navigator.clipboard.writeText(arguments[0]).then(arguments[1])", text)
    driver.execute_script("document.getElementById('source').value = 'en'; document.getElementById('input').focus()")
    driver.execute_script("document.getElementById('rerank').checked = arguments[0]", careful)
    begin = time.monotonic()
    driver.execute_cdp_cmd("Input.dispatchKeyEvent", {  # Ctrl+V
        "type": "keyDown", "modifiers": 2, "windowsVirtualKeyCode": 86, "code": "KeyV", "key": "v", "commands": ["paste"]})
    driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", "modifiers": 2, "windowsVirtualKeyCode": 86, "code": "KeyV", "key": "v"})
    until(driver, "document.getElementById('status').textContent.startsWith('Done')")
    translated = time.monotonic() - begin
    driver.execute_script("document.getElementById('auto').click()")
    driver.execute_cdp_cmd("Input.insertText", {"text": "."})
    driver.execute_script("document.querySelectorAll('#output .s')[300].click()")
    until(driver, "document.querySelectorAll('#sentence-target button').length > 3")
    shown = driver.execute_script("return [document.getElementById('input').value.length, document.querySelectorAll('#output .s').length]")
    assert shown[0] == characters + 1 and shown[1] > 500, shown
    tasks = driver.execute_script("return tasks")
    driver.execute_script("localStorage.clear()")  # the page remembers that nothing is translated while typing
    return {"first_paint_ms": paint, "longest_task_ms": max(tasks, default=0), "careful_s" if careful else "translated_s": translated}


def until(driver, condition):
    end = time.monotonic() + 600
    while not driver.execute_script("return " + condition):
        if time.monotonic() > end:
            sys.exit("page.py: after ten minutes not yet: " + condition)
        time.sleep(0.1)


def main():
    url, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1100,900"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_script_timeout(600)
    try:
        got = [measure(driver, url) | {"careful_s": measure(driver, url, True)["careful_s"]} for _ in range(runs)]
    finally:
        driver.quit()
    print(json.dumps({k: {"median": round(statistics.median(g[k] for g in got), 1), "most": round(max(g[k] for g in got), 1)}
                      for k in got[0]} | {"characters": 50000, "runs": runs}))


if __name__ == "__main__":
    main()
