"""Runs Efí's official Python SDK against the simulated bank and prints the results as JSON."""

from common import CHARGE, KEY, ORDER, RETURN_ID, SENT_ID, TXID, WINDOW, ended, pay, report
from efipay import EfiPay
from efipay.constants import Constants

Constants.APIS["PIX"]["URL"]["sandbox"] = ORDER["url"]
efi = EfiPay(
    {
        "sandbox": True,
        "client_id": ORDER["client"]["id"],
        "client_secret": ORDER["client"]["secret"],
        "certificate": ORDER["certificate"],
    }
)


def payout(value):
    return {"valor": value, "pagador": {"chave": KEY}, "favorecido": {"chave": "ana@exemplo.com.br"}}


def refusal(answer):
    return answer.get("nome") or answer["type"]


efi.pix_config_webhook(params={"chave": KEY}, body={"webhookUrl": ORDER["webhookUrl"]})
charge = efi.pix_create_charge(params={"txid": TXID}, body=CHARGE)
code = efi.pix_generate_qrcode(params={"id": charge["loc"]["id"]})
pay()
paid = efi.pix_detail_charge(params={"txid": TXID})
payment = {"e2eId": paid["pix"][0]["endToEndId"], "id": RETURN_ID}
efi.pix_devolution(params=payment, body={"valor": "23.45"})
returned = ended(lambda: efi.pix_detail_devolution(params=payment))
efi.pix_send(params={"idEnvio": SENT_ID}, body=payout("10.00"))
sent = ended(lambda: efi.pix_send_detail_id(params={"idEnvio": SENT_ID}))
lists = [
    len(efi.pix_list_charges(params=WINDOW)["cobs"]),
    len(efi.pix_received_list(params=WINDOW)["pix"]),
    len(efi.pix_send_list(params=WINDOW)["pix"]),
]
report(
    charge=charge,
    code=code["qrcode"],
    image=code["imagemQrcode"],
    paid=paid,
    returned=returned,
    sent=sent,
    lists=lists,
    saldo=efi.get_account_balance(params={"bloqueios": "false"})["saldo"],
    refusals={
        "beyondBalance": refusal(efi.pix_send(params={"idEnvio": SENT_ID + "x"}, body=payout("99999999.00"))),
        "unknownCharge": refusal(efi.pix_detail_charge(params={"txid": TXID + "0"})),
        "unknownPath": refusal(efi.pix_detail_due_charge(params={"txid": TXID})),
    },
)
