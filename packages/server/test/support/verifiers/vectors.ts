import type { VerifierCase } from './programs.ts'

/** The published vectors: `docs/generated/webhook-signatures.json`. */
export interface VectorsDocument {
  readonly standardWebhooks: readonly StandardVector[]
  readonly ecdsa: readonly EcdsaVector[]
}

interface Vector {
  readonly name: string
  readonly isValid: boolean
  readonly why: string
  readonly bodyBase64: string
}

/** Of `webhook-signature`. */
export interface StandardVector extends Vector {
  readonly secret: string
  readonly headers: Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>
  /** Seconds since the epoch. */
  readonly now: number
}

/** Of `digital-signature`. */
export interface EcdsaVector extends Vector {
  /** PEM. */
  readonly publicKey: string
  readonly signature: string
}

const SOME_TIME = 1_795_238_215

/** As questions to a verifier; those of ECDSA at the time of sending. */
export function vectorCases({ standardWebhooks, ecdsa }: VectorsDocument): VerifierCase[] {
  return [
    ...standardWebhooks.map(({ name, isValid, secret, headers, bodyBase64, now }) => ({
      ...{ name: `vector «${name}»`, scheme: 'standard' as const, key: secret, isValid, headers, now },
      body: Buffer.from(bodyBase64, 'base64'),
    })),
    ...ecdsa.map(({ name, isValid, publicKey, signature, bodyBase64 }) => ({
      ...{ name: `vector «${name}»`, scheme: 'ecdsa' as const, key: publicKey, isValid, now: SOME_TIME },
      headers: { 'webhook-timestamp': String(SOME_TIME), 'digital-signature': signature },
      body: Buffer.from(bodyBase64, 'base64'),
    })),
  ]
}
