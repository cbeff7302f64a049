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
    use_scheme(driver, scheme)
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1,
        "mobile": width < 600})
    return driver


def use_scheme(driver, scheme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": scheme}]})


class Server:
    """gst-tfx serve with a test signal as its input, and a file of floats as its
    output."""

    def __init__(self, program, folder, chain, signal, n_channels, *options):
        self.sound = os.path.join(folder, "sound.raw")
        source = (f"audiotestsrc is-live=true {signal} ! audio/x-raw,format=F32LE,"
                  f"rate={RATE},channels={n_channels}")
        sink = ("audioconvert ! audio/x-raw,format=F32LE ! filesink "
                f"buffer-mode=unbuffered location={self.sound}")
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--presets", folder, "-s", source,
             "-o", sink, *options, chain], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)
        for line in self.process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                self.address = found[0].rstrip("/.")
                break

    def stop(self):
        self.process.terminate()
        self.process.wait()

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


def state(driver):
    return driver.find_element(By.ID, "state").text


def type_into(driver, id_, text):
    box = driver.find_element(By.ID, id_)
    driver.execute_script("arguments[0].focus(); arguments[0].select()", box)
    box.send_keys(text)
    return box


def focused(driver):
    return driver.switch_to.active_element.get_attribute("id")


def run_boxes(test, wide, narrow):
    """What is typed, chosen and touched."""
    server = test.server
    for text, value in ("1,5k", "1500"), ("2000 Hz", "2000"), ("1e3", "1000"):
        type_into(narrow, "eq.frequency", text).send_keys(Keys.TAB)
        test.ok(wait_for(lambda: value_of(wide, "eq.frequency") == value),
                f"{text} is {value}", value_of(wide, "eq.frequency"))
    for text in "1.2.3", "3 apples", "[1":
        box = type_into(narrow, "eq.gain", text)
        box.send_keys(Keys.ENTER)
        test.ok(box.get_attribute("aria-invalid") == "true", f"{text} is no number")
        box.send_keys(Keys.ESCAPE)
        test.ok(value_of(narrow, "eq.gain") == value_of(wide, "eq.gain"),
                "Escape brings the value back", value_of(narrow, "eq.gain"))

    narrow.find_element(By.ID, "hibutterworth0.order.slider").send_keys(Keys.ARROW_RIGHT)
    test.ok(wait_for(lambda: value_of(wide, "hibutterworth0.order") == "6"),
            "a key moves a whole number by 1", value_of(wide, "hibutterworth0.order"))

    # Another page moves the band, then sets a chain with one more stage.
    box = type_into(narrow, "eq.gain", "7")
    handle = wide.find_element(By.ID, "handle-eq")
    before = told(narrow, "handle-eq")
    handle.send_keys(Keys.ARROW_DOWN)
    wait_for(lambda: told(narrow, "handle-eq") != before)
    test.ok(box.get_attribute("value") == "7" and focused(narrow) == "eq.gain",
            "another page's change leaves what is typed", box.get_attribute("value"))
    box.send_keys(Keys.TAB)
    test.ok(wait_for(lambda: value_of(wide, "eq.gain") == "7"), "which is used then",
            value_of(wide, "eq.gain"))
    test.ok(wait_for(lambda: "gain=7" in value_of(wide, "chain") and
                     "gain=7" in value_of(narrow, "chain")),
            "the text of the chain has the present values", value_of(wide, "chain"))
    slider = narrow.find_element(By.ID, "eq.gain.slider")
    slider.send_keys(Keys.ARROW_LEFT)
    type_into(wide, "chain", "Gain(1) | " + CHAIN).send_keys(Keys.CONTROL, Keys.ENTER)
    wait_for(lambda: narrow.find_elements(By.ID, "gain0.gain"))
    test.ok(focused(narrow) == "eq.gain.slider", "a new chain keeps the focus",
            focused(narrow))

    narrow.execute_script("document.getElementById('handle-eq').scrollIntoView()")
    box = narrow.execute_script(
        "const box = document.getElementById('handle-eq').getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]")
    for kind, dy in ("touchStart", 0), ("touchMove", -20), ("touchMove", -50), \
            ("touchEnd", None):
        points = [] if dy is None else [{"x": box[0], "y": box[1] + dy}]
        narrow.execute_cdp_cmd("Input.dispatchTouchEvent",
                               {"type": kind, "touchPoints": points})
    test.ok(wait_for(lambda: server.curve_db() > 1), "a finger drags a band",
            server.curve_db())


def run_looks(test, wide, narrow):
    """What eyes and fingers need."""
    chain = " | ".join(f"ParametricEQ({40 * 2 ** (i * 0.7):.0f}, q=1, gain={i % 5})"
                       for i in range(12)) + \
        " | Compressor(-60, 8) | shelf=HiShelving(9000, q=0.7, gain=2)" + \
        " | fir=DesignableFIR(9000, 101)"
    type_into(wide, "chain", chain).send_keys(Keys.CONTROL, Keys.ENTER)
    wait_for(lambda: narrow.find_elements(By.ID, "fir.pass_zero"))
    small = narrow.execute_script("""
        return [...document.querySelectorAll("button, input, select, textarea")]
          .filter(e => {
            const parts = [e, ...e.labels].map(part => part.getBoundingClientRect());
            const grown = -2 * parseFloat(getComputedStyle(e, "::after").top) - 4 || 0;
            const span = side => grown + Math.max(...parts.map(p => p[side[1]])) -
              Math.min(...parts.map(p => p[side[0]]));
            return Math.min(span(["left", "right"]), span(["top", "bottom"])) < 44;
          }).map(e => e.id || e.textContent);""")
    test.ok(not small, "a finger meets every control", *small)
    for driver, scheme in (wide, "dark"), (narrow, "dark"), (narrow, "light"):
        use_scheme(driver, scheme)
        faint = driver.execute_script("""
            const pixel = new OffscreenCanvas(1, 1).getContext("2d");
            const light = color => {
              pixel.fillStyle = color;
              pixel.fillRect(0, 0, 1, 1);
              const [r, g, b] = [...pixel.getImageData(0, 0, 1, 1).data].map(c =>
                c < 11 ? c / 3295 : ((c / 255 + 0.055) / 1.055) ** 2.4);
              return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
            };
            return [...document.querySelectorAll(".handle, .value, .reduction, label")]
              .map(e => {
                let back = e;
                while (getComputedStyle(back).backgroundColor === "rgba(0, 0, 0, 0)")
                  back = back.parentElement;
                const ratio = light(getComputedStyle(e).color) /
                  light(getComputedStyle(back).backgroundColor);
                return [Math.max(ratio, 1 / ratio), e.id || e.textContent];
              }).filter(([ratio]) => ratio < 4.5);""")
        test.ok(not faint, f"texts differ from their ground, {scheme}", *faint)
    wait_for(lambda: any(e.text for e in
                         wide.find_elements(By.CLASS_NAME, "reduction")))
    n_lines, edges = wide.execute_script("""
        const card = document.getElementById("compressor0.key").closest("fieldset");
        const walk = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
        while (!walk.nextNode().data.startsWith("compressor0"));
        const range = document.createRange();
        range.setStart(walk.currentNode, 0);
        range.setEnd(walk.currentNode, "compressor0".length);
        return [range.getClientRects().length, [...card.querySelectorAll(
          "input:not([type=range]), select")].map(e => e.getBoundingClientRect().right)];
        """)
    zero = wide.execute_script("return withSign(-0.04)")
    test.ok(zero == "0.0", "a level of 0 dB has no sign", zero)
    test.ok(n_lines == 1, "a name is not broken where there is space", n_lines)
    test.ok(max(edges) - min(edges) < 0.5, "the values of a stage are aligned", edges)
    test.ok("6.02 dB" in told(wide, "handle-shelf"), "a gain that is a factor is in dB",
            told(wide, "handle-shelf"))
    wide.find_element(By.ID, "handle-shelf").send_keys(Keys.ARROW_UP)
    test.ok(wait_for(lambda: value_of(narrow, "shelf.gain") == "2.113"),
            "and moves by 0.5 dB", value_of(narrow, "shelf.gain"))
    test.ok(value_of(wide, "fir.pass_zero") == "true", "true is one of the words",
            value_of(wide, "fir.pass_zero"))

    def pass_zero():
        return test.server.ask("parameters")["stages"][-1]["parameters"][2]["value"]
    for word, value in ("highpass", "highpass"), ("true", True):
        wide.find_element(By.ID, "fir.pass_zero").send_keys(word)
        test.ok(wait_for(lambda: pass_zero() == value), f"and {word} is chosen",
                pass_zero())
        time.sleep(1)  # The card is made anew.


def run_names(test, wide, narrow):
    """What a screen reader has, and names with markup."""
    for driver in wide, narrow:
        nameless = [e.get_attribute("outerHTML") for e in driver.find_elements(
            By.CSS_SELECTOR, "button, input, select, textarea, [role]")
            if e.aria_role not in ("status", "log") and not e.accessible_name]
        test.ok(not nameless, "every control has a name", *nameless)
    n = wide.execute_async_script("""
        const done = arguments[0];
        let n = 0;
        for (const live of document.querySelectorAll(
            "output, [aria-live], [role=status], [role=alert], [role=log]"))
          new MutationObserver(() => { n++; }).observe(live,
            { childList: true, characterData: true, subtree: true });
        setTimeout(() => done(n), 1000);""")
    test.ok(n == 0, "moving levels announce nothing", n)

    long_name = "long_" * 12
    type_into(wide, "chain", f"Gain(1) | {long_name}=FIR([0.5, 0.25]) | "
              "Multiband([200], Gain(1), Gain(2)) | Delay(480)")\
        .send_keys(Keys.CONTROL, Keys.ENTER)
    wait_for(lambda: all(driver.find_elements(By.ID, f"{long_name}.delay")
                         for driver in (wide, narrow)))
    for text in "peak", "1":
        type_into(wide, f"{long_name}.delay", text).send_keys(Keys.TAB)
        test.ok(wait_for(lambda: value_of(narrow, f"{long_name}.delay") == text),
                f"a delay of {text}", value_of(narrow, f"{long_name}.delay"))
    for driver, most in (wide, 1200), (narrow, 390):
        seen = driver.execute_script("return document.documentElement.scrollWidth")
        test.ok(seen <= most, f"the page fits {most} pixels", seen)

    odd = "<img src=x onerror=document.title='hit'> & ä\"'"
    type_into(wide, "preset", odd).send_keys(Keys.ENTER)

    def options():
        return narrow.execute_script(
            "return [...document.querySelectorAll('#presets option')].map(o => o.text)")
    test.ok(wait_for(lambda: odd in options()), "another page lists a new preset",
            options())
    type_into(wide, "chain", "Gain('<img src=x onerror=document.title=1>')")
    wait_for(lambda: "img" in wide.find_element(By.ID, "fault").text)
    wide.find_element(By.ID, "revert").click()
    wide.find_element(By.ID, "delete").click()
    wide.switch_to.alert.accept()
    test.ok(wait_for(lambda: odd not in test.server.ask("presets")["names"]),
            "a preset is deleted after a question", test.server.ask("presets"))
    test.ok(wide.title == narrow.title == "gst-tfx" and
            not wide.find_elements(By.TAG_NAME, "img"), "names are text only")


def run_away(test, driver, program, folder, signal):
    """A server goes away and comes back, with and without its token."""
    path = os.path.join(folder, "token")
    port = test.server.address.rsplit(":", 1)[1]
    test.server.stop()
    test.ok(wait_for(lambda: "Not connected" in state(driver)),
            "the page shows that the server is away", state(driver))
    test.ok(not any(e.is_displayed() for e in
                    driver.find_elements(By.CSS_SELECTOR, ".meter")),
            "and no levels, which would be old")
    slider = driver.find_element(By.ID, "gain0.gain.slider")
    for _ in range(3):
        slider.send_keys(Keys.ARROW_RIGHT)
        wait_for(lambda: "not connected" in driver.find_element(By.ID, "log").text)
    time.sleep(0.5)
    texts = driver.find_element(By.ID, "log").text.split("\n")
    test.ok(len(texts) == len(set(texts)), "each message is there once", *texts)
    server = Server(program, folder, "back=" + CHAIN, signal, 1, "--port", port)
    test.ok(wait_for(lambda: driver.find_elements(By.ID, "back.cutoff") and
                     "48 kHz" in state(driver)),
            "the page finds the server again", state(driver))
    server.stop()
    server = Server(program, folder, CHAIN, signal, 1, "--listen", "127.0.0.1",
                    "--token-file", path)
    try:
        for token in "", "#token=" + "x" * 48:
            driver.get(server.address.split("/#")[0] + "/" + token)
            test.ok(wait_for(lambda: "token is missing or wrong" in state(driver)),
                    "the page asks for the token", state(driver))
        driver.get(server.address)
        test.ok(wait_for(lambda: "48 kHz" in state(driver)), "and takes it",
                state(driver))
        test.ok("token" not in driver.current_url, "the address bar loses it",
                driver.current_url)
    finally:
        server.stop()


def run(test, wide, narrow):
    server = test.server
    for driver in wide, narrow:
        driver.get(server.address)
    handle = wait_for(lambda: wide.find_elements(By.ID, "handle-eq"))[0]
    test.ok(wait_for(lambda: "48 kHz" in state(wide)), "the page shows the rate",
            state(wide))
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
    type_into(narrow, "eq.gain", "-6").send_keys(Keys.TAB)
    test.ok(wait_for(lambda: value_of(wide, "eq.gain") == "−6"),
            "a typed value reaches the other browser", value_of(wide, "eq.gain"))
    test.sounds_as_drawn("the sound has the typed value")

    def meter_follows():
        shown = wide.find_elements(By.CSS_SELECTOR, ".meter .value")[2].text
        peak_db = 20 * math.log10(AMPLITUDE) + server.curve_db()
        return abs(float(shown.replace("−", "-")) - peak_db) < 0.11
    test.ok(wait_for(meter_follows), "the meters follow",
            [e.text for e in wide.find_elements(By.CSS_SELECTOR, ".meter")])

    run_boxes(test, wide, narrow)
    for driver in wide, narrow:
        type_into(driver, "chain", "HiButterworth(80) | Foo(3)")

        def fault():
            lines = driver.find_element(By.ID, "place").get_property("textContent")
            return lines == "HiButterworth(80) | Foo(3)\n" + " " * 20 + "^^^\n"
        test.ok(wait_for(fault), "a wrong chain shows its place",
                driver.find_element(By.ID, "place").text)
        test.ok("1:21: there is no class 'Foo'" in
                driver.find_element(By.ID, "fault").text, "and tells it",
                driver.find_element(By.ID, "fault").text)
    narrow.find_element(By.ID, "revert").click()
    type_into(wide, "chain", "Gain(0.5)").send_keys(Keys.CONTROL, Keys.ENTER)
    test.ok(wait_for(lambda: "Gain" in value_of(narrow, "chain")),
            "a chain that is applied reaches the other browser",
            value_of(narrow, "chain"))
    test.sounds_as_drawn("the sound has the new chain")

    type_into(wide, "preset", "half").send_keys(Keys.ENTER)
    test.ok(wait_for(lambda: "half" in server.ask("presets")["names"]),
            "a preset is saved", server.ask("presets"))
    wide.find_element(By.ID, "bypass").click()
    test.ok(wait_for(lambda: abs(server.level_db()) < 0.1), "bypass",
            server.level_db())
    ActionChains(wide).send_keys("b").perform()
    test.ok(wait_for(lambda: not server.ask("state")["bypassed"]),
            "keys work after a button is clicked", server.ask("state"))
    run_looks(test, wide, narrow)
    run_names(test, wide, narrow)
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
                run_away(test, drivers[0], program, folder, signal)
            finally:
                for driver in drivers:
                    driver.quit()
        finally:
            server.stop()
    print(f"1..{test.n}")
    return test.n_failed > 0


sys.exit(main())
