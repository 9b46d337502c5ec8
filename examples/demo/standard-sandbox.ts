import { type BankName, standardBank } from './bank.ts'
import type { Client } from './client.ts'
import { print } from './output.ts'
import { Started, startPixgate } from './processes.ts'
import type { Sandbox } from './sandbox.ts'
import { controlsOf, registerCallbacks, settingsOf, startStandardBank } from './standard-bank.ts'

/**
 * Starts the simulated bank with API Pix, and a new sandbox that connects to it like to a real bank: with a certificate,
 * tokens and callbacks.
 * @throws Error where one of them does not start, or the way to the bank is not free
 */
export async function startStandardSandbox(name: Exclude<BankName, 'pixgate'>): Promise<Sandbox> {
  const started = new Started()
  started.stopOnSignals()
  try {
    const bank = await startStandardBank(started)
    const { url: bankUrl, certificates } = bank.apiPix
    print('Bank', `simulated at ${bankUrl}, with API Pix${name === 'efi' ? ' as Efí' : ' only'}`)
    const settings = settingsOf(name, bank)
    const { url, adminToken } = await startPixgate(started, settings)
    print('Certificate', `${certificates.clientPkcs12}, used for mTLS`)
    console.log('\n  npm run bank-check -- --register')
    const steps = await registerCallbacks({ ...settings, PIXGATE_BANK_CALLBACK_URL: url })
    console.log(steps.replaceAll(/^(?=.)/gm, '    '))
    const openBank = (pix: Client) => standardBank(name, controlsOf(bank), pix)
    return { url, operatorUrl: url, adminToken, openBank, isOurs: true, stop: () => started.stop() }
  } catch (error) {
    await started.stop()
    throw error
  }
}
