#!/usr/bin/env python3
"""Enrols an operator as a browser does, creates an API token in the session, and prints it. Usage: enrol.py URL
ENROLMENT-CODE, with the code that `bahay operator add NAME --role ROLE` prints."""

import base64
import hashlib
import hmac
import http.client
import re
import struct
import sys
import time
import urllib.parse

PASSWORD = "a long rain on a tin roof"


class Browser:
    """A client connection with its cookies."""

    def __init__(self, url):
        self.url = url
        self.place = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(self.place.hostname, self.place.port, timeout=60)
        self.cookies = {}

    def request(self, method, path, body=None, headers=()):
        """Sends a request; returns status, headers, text and milliseconds."""
        sent = {"sec-fetch-site": "same-origin", "host": self.place.netloc, **dict(headers)}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        began = time.perf_counter()
        self.connection.request(method, path, body, sent)
        answer = self.connection.getresponse()
        text = answer.read()
        took = (time.perf_counter() - began) * 1000
        for cookie in answer.headers.get_all("set-cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return answer.status, answer.headers, text.decode(), took

    def expect(self, status, method, path, body=None, headers=()):
        """Returns the text and the milliseconds of a response; exits if the status differs."""
        answer = self.request(method, path, body, headers)
        if answer[0] != status:
            sys.exit(f"{path}: status {answer[0]} instead of {status}\n{answer[2]}")
        return answer[2], answer[3]

    def post_form(self, status, path, fields):
        """Posts a form and returns the response's text."""
        headers = [("content-type", "application/x-www-form-urlencoded"), ("origin", self.url)]
        return self.expect(status, "POST", path, urllib.parse.urlencode(fields), headers)[0]

    def session(self):
        """Returns the session's token, which the API accepts too."""
        return next(value for value in self.cookies.values() if value.startswith("bahay_desk_"))

    def enrol(self, code):
        """Completes the enrolment with a code and signs the operator in."""
        token = form_token(self.expect(200, "GET", "/desk/enrolment")[0])
        text = self.post_form(200, "/desk/enrolment", {"form_token": token, "enrolment": code})
        secret = re.search(r"Key: <code>([A-Z2-7]+)</code>", text).group(1)
        fields = {"form_token": form_token(text), "enrolment": code, "password": PASSWORD}
        fields |= {"again": PASSWORD, "code": six_digits(secret)}
        self.post_form(303, "/desk/enrolment/completion", fields)

    def create_token(self):
        """Creates an API token for the operator of the session."""
        page = self.expect(200, "GET", "/desk/token")[0]
        text = self.post_form(200, "/desk/token", {"form_token": form_token(page)})
        return re.search(r"bahay_op_[\w-]{43}", text).group(0)


def form_token(text):
    return re.search(r'name="form_token" value="([^"]+)"', text).group(1)


def six_digits(secret):
    """Returns the current one-time password of RFC 6238."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.digest(key, struct.pack(">Q", int(time.time()) // 30), hashlib.sha1)
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset:offset + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


if __name__ == "__main__":
    url, code = sys.argv[1:]
    browser = Browser(url)
    browser.enrol(code)
    print(browser.create_token())
