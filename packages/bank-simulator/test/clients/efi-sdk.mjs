/**
 * Runs Efí's official Node SDK against the simulated bank and prints the results as JSON. The SDK's address is fixed, so
 * its connections are redirected; the bank's certificate has Efí's host name.
 */
import https from 'node:https'
import { pathToFileURL } from 'node:url'

const { port, sdk, certificate, client, pixKey, webhookUrl, control, orders } = JSON.parse(process.argv[2])
const { createConnection } = https.Agent.prototype
https.Agent.prototype.createConnection = function connect(options, callback) {
  return createConnection.call(this, { ...options, host: '127.0.0.1', port }, callback)
}
const module = await (sdk === undefined ? import('sdk-node-apis-efi') : import(pathToFileURL(sdk).href))
const EfiPay = module.default.default ?? module.default
const efi = new EfiPay({ sandbox: true, client_id: client.id, client_secret: client.secret, certificate })
const { txid, returnId, idEnvio, window } = orders

await efi.pixConfigWebhook({ chave: pixKey }, { webhookUrl })
const charge = await efi.pixCreateCharge({ txid }, { ...orders.charge, chave: pixKey })
const code = await efi.pixGenerateQRCode({ id: charge.loc.id })
await pay()
const paid = await efi.pixDetailCharge({ txid })
const [{ endToEndId: e2eId }] = paid.pix
await efi.pixDevolution({ e2eId, id: returnId }, { valor: '23.45' })
const returned = await ended(() => efi.pixDetailDevolution({ e2eId, id: returnId }))
await efi.pixSend({ idEnvio }, payout('10.00'))
const sent = await ended(() => efi.pixSendDetailId({ idEnvio }))
const [charges, received, payouts] = await Promise.all([
  efi.pixListCharges(window),
  efi.pixReceivedList(window),
  efi.pixSendList(window),
])
const { saldo } = await efi.getAccountBalance({ bloqueios: false })
const refusals = {
  beyondBalance: await refusal(efi.pixSend({ idEnvio: `${idEnvio}x` }, payout('99999999.00'))),
  unknownCharge: await refusal(efi.pixDetailCharge({ txid: `${txid}0` })),
  unknownPath: await refusal(efi.pixDetailDueCharge({ txid })),
}
const lists = [charges.cobs.length, received.pix.length, payouts.pix.length]
process.stdout.write(
  JSON.stringify({ charge, code: code.qrcode, image: code.imagemQrcode, paid, returned, sent, lists, saldo, refusals }),
)

function payout(valor) {
  return { valor, pagador: { chave: pixKey }, favorecido: { chave: 'ana@exemplo.com.br' } }
}

async function pay() {
  await fetch(`${control.url}/control/charges/${txid}/pay`, { method: 'POST', headers: control.headers })
}

async function ended(ask) {
  for (;;) {
    const answer = await ask()
    if (answer.status !== 'EM_PROCESSAMENTO') return answer
  }
}

async function refusal(call) {
  const { nome, type } = await call.then(
    (answer) => ({ type: `none: ${JSON.stringify(answer)}` }),
    (error) => error,
  )
  return nome ?? type
}
