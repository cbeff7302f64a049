#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""browser.py: the page of gst-tfx serve in Chromium, as TAP.

    browser.py GST-TFX           runs the tests
    browser.py GST-TFX FOLDER    draws wide.png, narrow.png and light.png instead

A sine goes through the chain to a file, whose level is compared with the response.
"""
import array
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    have_browser = os.path.exists("/usr/bin/chromium")
except ImportError:
    have_browser = False
if not have_browser or sys.argv[1:] == ["--skip"]:
    print("1..0 # SKIP chromium, python3-selenium or the server is not installed")
    sys.exit(0)

CHAIN = "HiButterworth(40) | eq=ParametricEQ(1000, q=1, gain=0) | comp=Compressor(0)"
SCENE = ("hp=HiButterworth(60, order=4) | low=ParametricEQ(220, q=1.2, gain=-4) | "
         "mid=ParametricEQ(1800, q=0.8, gain=5) | "
         "air=HiShelving(9000, q=0.7, gain=-3, gain_scale='db') | "
         "comp=Compressor(-24, 3) | limit=Limiter(-1)")
TONE_HZ, RATE = 1000, 48000
AMPLITUDE = 0.1
WAIT_S = 20


def browser(width, height, scheme):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options,
                              service=Service("/usr/bin/chromedriver"))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": scheme}]})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1,
        "mobile": width < 600})
    return driver


class Server:
    """gst-tfx serve with a test signal as its input, and a file of floats as its
    output."""

    def __init__(self, program, folder, chain, signal, n_channels):
        self.sound = os.path.join(folder, "sound.raw")
        source = (f"audiotestsrc is-live=true {signal} ! audio/x-raw,format=F32LE,"
                  f"rate={RATE},channels={n_channels}")
        sink = ("audioconvert ! audio/x-raw,format=F32LE ! filesink "
                f"buffer-mode=unbuffered location={self.sound}")
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--presets", folder, "-s", source,
             "-o", sink, chain], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)
        for line in self.process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                self.address = found[0].rstrip("/.")
                break

    def ask(self, command):
        with urllib.request.urlopen(f"{self.address}/api/v1/{command}") as answer:
            return json.load(answer)["ok"]

    def level_db(self):
        """The gain at the sine's frequency in the last tenth of a second."""
        with open(self.sound, "rb") as file:
            size = os.path.getsize(self.sound) // 4
            file.seek(4 * max(size - RATE // 10, 0))
            samples = array.array("f", file.read(4 * (RATE // 10)))
        turn = 2 * math.pi * TONE_HZ / RATE
        re_ = sum(s * math.cos(turn * i) for i, s in enumerate(samples))
        im = sum(s * math.sin(turn * i) for i, s in enumerate(samples))
        amplitude = 2 * math.hypot(re_, im) / len(samples)
        return 20 * math.log10(amplitude / AMPLITUDE)

    def curve_db(self):
        answer = self.ask(f"response?from={TONE_HZ}&to={TONE_HZ + 1}&points=2")
        return answer["db"][0]


def wait_for(test):
    """The first result of test() that is true; or its last one, after WAIT_S."""
    end = time.monotonic() + WAIT_S
    while True:
        result = test()
        if result or time.monotonic() > end:
            return result
        time.sleep(0.1)


class Test:
    def __init__(self, server):
        self.server, self.n, self.n_failed = server, 0, 0

    def ok(self, passed, text, *seen):
        self.n += 1
        self.n_failed += not passed
        print(f"{'ok' if passed else 'not ok'} {self.n} - {text}", flush=True)
        if not passed:
            print("#", *seen, flush=True)

    def sounds_as_drawn(self, text):
        def compare():
            self.seen = self.server.level_db(), self.server.curve_db()
            return abs(self.seen[0] - self.seen[1]) < 0.1
        self.ok(wait_for(compare), text, self.seen)


def value_of(driver, id_):
    return driver.find_element(By.ID, id_).get_attribute("value")


def told(driver, id_):
    return driver.find_element(By.ID, id_).get_attribute("aria-valuetext") or ""


def run(test, wide, narrow):
    server = test.server
    for driver in wide, narrow:
        driver.get(server.address)
    handle = wait_for(lambda: wide.find_elements(By.ID, "handle-eq"))[0]
    test.ok(wait_for(lambda: "48 kHz" in wide.find_element(By.ID, "state").text),
            "the page shows the rate", wide.find_element(By.ID, "state").text)
    test.sounds_as_drawn("a chain without gain has none")

    ActionChains(wide).click_and_hold(handle).move_by_offset(30, -60) \
        .release().perform()
    test.ok(wait_for(lambda: server.curve_db() > 2), "a band is dragged upwards",
            server.curve_db())
    test.sounds_as_drawn("the sound follows the band")
    test.ok(wait_for(lambda: told(narrow, "handle-eq") == told(wide, "handle-eq")),
            "another browser sees the band move", told(wide, "handle-eq"),
            told(narrow, "handle-eq"))

    before = float(value_of(wide, "eq.gain").replace("−", "-"))
    handle.send_keys(Keys.ARROW_DOWN)
    test.ok(wait_for(lambda: abs(float(value_of(narrow, "eq.gain")
                                       .replace("−", "-")) - before + 0.5) < 1e-6),
            "the arrow keys move a band by 0.5 dB", before)
    box = narrow.find_element(By.ID, "eq.gain")
    box.clear()
    box.send_keys("-6", Keys.TAB)
    test.ok(wait_for(lambda: value_of(wide, "eq.gain") == "−6"),
            "a typed value reaches the other browser", value_of(wide, "eq.gain"))
    test.sounds_as_drawn("the sound has the typed value")

    def meter_follows():
        shown = wide.find_elements(By.CSS_SELECTOR, ".meter .value")[2].text
        peak_db = 20 * math.log10(AMPLITUDE) + server.curve_db()
        return abs(float(shown.replace("−", "-")) - peak_db) < 0.11
    test.ok(wait_for(meter_follows), "the meters follow",
            [e.text for e in wide.find_elements(By.CSS_SELECTOR, ".meter")])

    text = wide.find_element(By.ID, "chain")
    text.clear()
    text.send_keys("HiButterworth(80) | Foo(3)")

    def fault():
        lines = wide.find_element(By.ID, "fault").get_property("textContent")
        return re.match(r"HiButterworth\(80\) \| Foo\(3\)\n {20}\^\^\^\n", lines)
    test.ok(wait_for(fault), "a wrong chain shows its place",
            wide.find_element(By.ID, "fault").text)
    text.clear()
    text.send_keys("Gain(0.5)", Keys.CONTROL, Keys.ENTER)
    test.ok(wait_for(lambda: "Gain" in value_of(narrow, "chain")),
            "a chain that is applied reaches the other browser",
            value_of(narrow, "chain"))
    test.sounds_as_drawn("the sound has the new chain")

    name = wide.find_element(By.ID, "preset")
    name.send_keys("half")
    wide.find_element(By.ID, "save").click()
    test.ok(wait_for(lambda: "half" in server.ask("presets")["names"]),
            "a preset is saved", server.ask("presets"))
    wide.find_element(By.ID, "bypass").click()
    test.ok(wait_for(lambda: abs(server.level_db()) < 0.1), "bypass",
            server.level_db())
    for driver in wide, narrow:
        faults = [entry["message"] for entry in driver.get_log("browser")
                  if entry["level"] == "SEVERE"]
        test.ok(not faults, "the browser reports no error", *faults)


def draw(server, folder):
    for name, width, height, scheme in (("wide", 1100, 680, "dark"),
                                        ("narrow", 390, 1400, "dark"),
                                        ("light", 1100, 980, "light")):
        driver = browser(width, height, scheme)
        driver.get(server.address)
        time.sleep(3)
        driver.save_screenshot(os.path.join(folder, f"{name}.png"))
        driver.quit()


def main():
    program, shots = sys.argv[1], sys.argv[2:]
    signal = f"wave=sine freq={TONE_HZ} volume={AMPLITUDE}"
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder, SCENE, "wave=pink-noise volume=0.5", 2) \
            if shots else Server(program, folder, CHAIN, signal, 1)
        try:
            if shots:
                draw(server, shots[0])
                return 0
            test = Test(server)
            drivers = browser(1200, 1000, "dark"), browser(390, 1400, "dark")
            try:
                run(test, *drivers)
            finally:
                for driver in drivers:
                    driver.quit()
        finally:
            server.process.terminate()
            server.process.wait()
    print(f"1..{test.n}")
    return test.n_failed > 0


sys.exit(main())
