"""Runs pypix-api against the simulated bank, in the style of one bank, and prints the results as JSON."""

from common import CHARGE, KEY, ORDER, RETURN_ID, TXID, WINDOW, ended, pay, report
from pypix_api.auth.oauth2 import OAuth2Client
from pypix_api.banks.inter import InterPixAPI
from pypix_api.banks.sicoob import SicoobPixAPI
from pypix_api.banks.sicredi import SicrediPixAPI
from pypix_api.exceptions import PixAPIException

# Each bank gets the client's credentials in its own way.
BANK, CREDENTIALS = {
    "sicredi": (SicrediPixAPI, {"client_secret": ORDER["client"]["secret"]}),
    "inter": (InterPixAPI, {"client_secret": ORDER["client"]["secret"], "client_auth": "body"}),
    "sicoob": (SicoobPixAPI, {}),
}[ORDER["style"]]
BANK.BASE_URL = ORDER["url"] + ORDER["basePath"]
oauth = OAuth2Client(
    token_url=ORDER["tokenUrl"],
    client_id=ORDER["client"]["id"],
    cert_pfx=ORDER["pkcs12"],
    pwd_pfx=ORDER["passphrase"],
    **CREDENTIALS,
)
bank = BANK(oauth)


def refusal(call):
    try:
        return f"none: {call()}"
    except PixAPIException as error:
        return error.type


bank.configurar_webhook(KEY, ORDER["webhookUrl"])
charge = bank.criar_cob(TXID, CHARGE)
location = bank.consultar_location(charge["loc"]["id"])
pay()
paid = bank.consultar_cob(TXID)
e2eid = paid["pix"][0]["endToEndId"]
bank.solicitar_devolucao_pix(e2eid, RETURN_ID, {"valor": "23.45"})
returned = ended(lambda: bank.consultar_devolucao_pix(e2eid, RETURN_ID))
charges = bank.consultar_cobs(WINDOW["inicio"], WINDOW["fim"])
received = bank.consultar_pix(WINDOW["inicio"], WINDOW["fim"])
report(
    charge=charge,
    location=location["location"],
    paid=paid,
    returned=returned,
    lists=[len(charges["cobs"]), len(received["pix"])],
    refusals={
        "unknownCharge": refusal(lambda: bank.consultar_cob(TXID + "0")),
        "unknownPath": refusal(lambda: bank.consultar_cobv(TXID)),
    },
)
