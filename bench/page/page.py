#!/usr/bin/env python3
"""How fast the web page is, by Chromium's own performance entries: first paint, and the longest task while 50,000
characters are translated. Prints one JSON line. Usage: page.py URL [RUNS]"""
import json
import shutil
import statistics
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

SENTENCES = ["The %d dogs play in the snow near the old station, and nobody is watching them." % n for n in range(5000)]


def measure(driver, url, characters):
    driver.get("about:blank")
    driver.get(url)
    driver.execute_script("""
        window.tasks = [];
        new PerformanceObserver((l) => tasks.push(...l.getEntries().map((e) => e.duration))).observe({type: 'longtask', buffered: true});""")
    until(lambda: driver.execute_script("return document.querySelectorAll('#target option').length") >= 1)
    paint = driver.execute_script("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    text = "\n".join(SENTENCES)[:characters]
    begin = time.monotonic()
    driver.execute_script("""
        document.getElementById('source').value = 'en';
        const input = document.getElementById('input');
        input.value = arguments[0];
        document.getElementById('translate').click();""", text)
    until(lambda: driver.execute_script("return document.getElementById('status').textContent").startswith("Done"))
    tasks = driver.execute_script("return tasks")
    return {"first_paint_ms": paint, "longest_task_ms": max(tasks, default=0), "translated_s": time.monotonic() - begin}


def until(condition):
    end = time.monotonic() + 600
    while not condition():
        if time.monotonic() > end:
            sys.exit("page.py: the page was not done after ten minutes")
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
        got = [measure(driver, url, 50000) for _ in range(runs)]
    finally:
        driver.quit()
    print(json.dumps({k: {"median": round(statistics.median(g[k] for g in got), 1), "most": round(max(g[k] for g in got), 1)}
                      for k in got[0]} | {"characters": 50000, "runs": runs}))


main()
