"""What the programs of the Python clients share: their order, the control that pays, and waiting."""

import json
import sys
import urllib.request

ORDER = json.loads(sys.argv[1])
TXID, RETURN_ID, SENT_ID = (ORDER["orders"][name] for name in ("txid", "returnId", "idEnvio"))
WINDOW, KEY = ORDER["orders"]["window"], ORDER["pixKey"]
CHARGE = {**ORDER["orders"]["charge"], "chave": KEY}


def pay():
    control = ORDER["control"]
    url = f"{control['url']}/control/charges/{TXID}/pay"
    urllib.request.urlopen(urllib.request.Request(url, method="POST", headers=control["headers"])).close()


def ended(ask):
    while True:
        answer = ask()
        if answer["status"] != "EM_PROCESSAMENTO":
            return answer


def report(**results):
    json.dump(results, sys.stdout)
