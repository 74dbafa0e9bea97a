"""The three engines of today's browsers, each driven by its WebDriver: `make test-browsers`."""

import json
import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.webdriver import WebDriver

from tests.browser.conftest import Blog, address, blog

__all__ = ["Blog", "Keys", "Reader", "address", "blog"]

MINI_BROWSER = "/usr/lib/{}-linux-gnu/webkit2gtk-{}/MiniBrowser"


class Reader:
    """Who reads a page in one of the browsers; `find` is JavaScript that finds an element."""

    def __init__(self, driver: WebDriver, name: str) -> None:
        self.driver, self.name = driver, name

    def read(self, script: str, *arguments: object) -> Any:
        """The value of an expression, in which `box` and `root` are those of the first widget."""
        return self.driver.execute_script(
            "const root = document.querySelector('blog-search')?.shadowRoot ?? document;"
            "const box = root.querySelector('input');"
            f"return {script}",
            *arguments,
        )

    def wait(self, script: str, *arguments: object) -> None:
        """Until the expression is true."""
        until = time.monotonic() + 15
        while not self.read(script, *arguments):
            assert time.monotonic() < until, f"{self.name}: {script} is {self.read(script)}"
            time.sleep(0.05)  # WebDriver tells nobody of changes

    def press(self, *keys: str) -> None:
        """Keys, where the focus is; with Control or Shift they are held."""
        chain = webdriver.ActionChains(self.driver)
        for key in keys:
            if len(key) > 1:
                held, letter = key[0], key[1]
                chain.key_down(held).send_keys(letter).key_up(held)
            else:
                chain.send_keys(key)
        chain.perform()

    def compose(self) -> None:
        """The letters `u6f` of an input method, which stand for an o, where the focus is."""
        if self.name == "chromium":
            composed = {"text": "u6f", "selectionStart": 3, "selectionEnd": 3}
            self._command("Input.imeSetComposition", composed)
        elif self.name == "firefox":
            self._in_chrome(
                "const tip = (window.tip = Cc['@mozilla.org/text-input-processor;1']"
                ".createInstance(Ci.nsITextInputProcessor));"
                "tip.beginInputTransactionForTests(window);"
                "tip.setPendingCompositionString('u6f');"
                "tip.appendClauseToPendingComposition(3, tip.ATTR_RAW_CLAUSE);"
                "tip.setCaretInPendingComposition(3);"
                "tip.flushPendingComposition();"
            )
        else:  # that of GTK itself
            chain = webdriver.ActionChains(self.driver)
            chain.key_down(Keys.CONTROL).key_down(Keys.SHIFT).send_keys("u")
            chain.key_up(Keys.SHIFT).key_up(Keys.CONTROL).send_keys("6f").perform()

    def commit(self) -> None:
        """Enter, by which an input method puts the o in place of them."""
        if self.name == "chromium":
            key = {"type": "rawKeyDown", "key": "Process", "windowsVirtualKeyCode": 229}
            self._command("Input.dispatchKeyEvent", key)
            self._command("Input.insertText", {"text": "o"})
        elif self.name == "firefox":
            self._in_chrome(
                "tip.setPendingCompositionString('o'); tip.setCaretInPendingComposition(1);"
                "tip.appendClauseToPendingComposition(1, tip.ATTR_RAW_CLAUSE);"
                "tip.flushPendingComposition();"
                "tip.commitComposition(new KeyboardEvent('', { key: 'Enter', keyCode: 13 }));"
            )
        else:
            self.press(Keys.ENTER)

    def _command(self, name: str, parameters: dict[str, Any]) -> None:
        assert isinstance(self.driver, webdriver.Chrome)
        self.driver.execute_cdp_cmd(name, parameters)

    def _in_chrome(self, script: str) -> None:
        assert isinstance(self.driver, webdriver.Firefox)
        with self.driver.context("chrome"):
            self.driver.execute_script(script)

    def click(self, find: str) -> None:
        self.read(f"{find}.scrollIntoView({{ block: 'nearest' }})")
        self.driver.execute_script("arguments[0].click()", self.read(find))

    def click_at(self, x: int, y: int) -> None:
        """A click of the mouse at a place in the window."""
        moves = [{"type": "pointerMove", "x": x, "y": y, "duration": 0, "origin": "viewport"}]
        presses = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        mouse = {"type": "pointer", "id": "mouse", "actions": [*moves, *presses]}
        self.driver.execute(Command.W3C_ACTIONS, {"actions": [mouse]})

    def open(self, url: str) -> None:
        self.driver.get(url)

    def back(self) -> None:
        self.driver.back()


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"{name} is not installed; CONTRIBUTING.md says how to get it")
    return path


def _chromium() -> WebDriver:
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ["CHROMIUM"]
    for argument in ("--headless", "--no-sandbox", "--no-first-run"):
        options.add_argument(argument)
    service = webdriver.ChromeService(_program("chromedriver"))
    return webdriver.Chrome(options, service)


def _firefox() -> WebDriver:
    options = webdriver.FirefoxOptions()
    options.binary_location = _program("firefox-esr")
    options.add_argument("-headless")
    # The input method of a test is a part of the browser's own scripts.
    service = webdriver.FirefoxService(
        _program("geckodriver"), service_args=["--allow-system-access"]
    )
    return webdriver.Firefox(options, service)


def _webkit() -> WebDriver:
    places = [MINI_BROWSER.format(os.uname().machine, version) for version in ("4.1", "4.0")]
    options = webdriver.WebKitGTKOptions()
    options.binary_location = next(filter(os.path.exists, places), places[0])
    options.add_argument("--automation")
    service = webdriver.WebKitGTKService(_program("WebKitWebDriver"))
    with warnings.catch_warnings():
        # Selenium 4.51 itself starts this driver in a way that it deprecates.
        warnings.simplefilter("ignore", DeprecationWarning)
        return webdriver.WebKitGTK(options, service)


ENGINES: dict[str, Callable[[], WebDriver]] = {
    "chromium": _chromium,
    "firefox": _firefox,
    "webkit": _webkit,
}


@pytest.fixture(scope="session", params=ENGINES)
def reader(request: pytest.FixtureRequest) -> Iterator[Reader]:
    driver = ENGINES[request.param]()
    driver.set_window_size(1000, 800)
    print(json.dumps({request.param: driver.capabilities.get("browserVersion")}))
    yield Reader(driver, request.param)
    driver.quit()
