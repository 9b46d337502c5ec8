/**
 * A client that none of us wrote: Efí's own, which sells something, is paid, gives a part back, registers an address, and
 * sends money. It is a process of its own, so that it trusts the bank's authority by NODE_EXTRA_CA_CERTS as anybody would
 * have it; what it is answered it says in one line of JSON.
 */
const { url, control, token, certificate, key, pixKey, webhookUrl, client } = JSON.parse(process.argv[2] ?? '')

const module = import.meta.resolve('sdk-node-apis-efi')
const { endpoints } = await import(new URL('./constants/endpoints.js', module).href)
const { default: EfiPay } = await import(module)
endpoints.APIS.PIX.URL.SANDBOX = url

const efi = new EfiPay({
  sandbox: true,
  client_id: client.id,
  client_secret: client.secret,
  certificate,
  pemKey: key,
})
const txid = '0198c0de7a11700080005f1d3c2b1a09'
const idEnvio = '0198c0de8b22700080002c3d4e5f6a7b'
const window = { inicio: '2026-11-01T00:00:00Z', fim: '2026-12-01T00:00:00Z' }

await efi.pixConfigWebhook({ chave: pixKey }, { webhookUrl })
const webhook = await efi.pixDetailWebhook({ chave: pixKey })
const terms = { calendario: { expiracao: 3_600 }, valor: { original: '123.45' }, chave: pixKey }
const charge = await efi.pixCreateCharge({ txid }, terms)
const made = await efi.pixCreateImmediateCharge({}, terms)
await fetch(`${control}/control/charges/${txid}/pay`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}` },
})
const paid = await efi.pixDetailCharge({ txid })
const { endToEndId: e2eId } = paid.pix[0]
const received = await efi.pixReceivedList(window)
await efi.pixDevolution({ e2eId, id: '1' }, { valor: '23.45' })
const returned = await ended(() => efi.pixDetailDevolution({ e2eId, id: '1' }))
await efi.pixSend(
  { idEnvio },
  { valor: '10.00', pagador: { chave: pixKey }, favorecido: { chave: 'ana@exemplo.com.br' } },
)
const sent = await ended(() => efi.pixSendDetailId({ idEnvio }))
const { saldo } = await efi.getAccountBalance({ bloqueios: true })
const unknown = await efi.pixDetailCharge({ txid: `${txid}0` }).catch((error: unknown) => error)
process.stdout.write(JSON.stringify({ webhook, charge, paid, received, returned, made, sent, saldo, unknown }))

/** Asks until something is under way no more. */
async function ended<T extends { readonly status: string }>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 'EM_PROCESSAMENTO') return answer
  }
}
