/** ECDSA signatures, which are not deterministic. The private key was discarded. */

/** PEM. */
export const publicKey = [
  '-----BEGIN PUBLIC KEY-----',
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAENRej2UKRNXat5qXj/CNnk7d20vYr',
  '5jCBpJhjykfDPAIK9GKZRe0BpmqOgClz8puN97506qNAUCoj7U8e+D/vuA==',
  '-----END PUBLIC KEY-----',
  '',
].join('\n')

/** PEM of a key that made no signature. */
export const otherPublicKey = [
  '-----BEGIN PUBLIC KEY-----',
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAENcTEeqXhkus3m6yg4MFi46TYc4x8',
  '4zLLTnNJfqAeargz7winClaDFbYqcCazp2v97RAlP1J4RK97c5DD48Kuqg==',
  '-----END PUBLIC KEY-----',
  '',
].join('\n')

/** A vector of `Digital-Signature`. */
export interface EcdsaSignature {
  readonly name: string
  readonly isValid: boolean
  readonly why: string
  /** Base64. */
  readonly signature: string
  /** If it differs from the common body. */
  readonly body?: string
  /** To be verified with the other key. */
  readonly isOther?: true
}

export const ecdsaSignatures: readonly EcdsaSignature[] = [
  {
    name: 'as it is sent',
    isValid: true,
    why: 'DER in Base64, of the SHA-256 of the bytes.',
    signature: 'MEUCIQC6bidMJQh/9u2C3fUniXB4aLnFE596dcitP56zldahYgIgZqYpatmPyTiQRoLCsGeo2jRQtunesWFFa5ZpK02rbHI=',
  },
  {
    name: 'a large s',
    isValid: true,
    why: 'Of the two values that s may have, the larger: both are right, and notifications have either.',
    signature: 'MEYCIQC6bidMJQh/9u2C3fUniXB4aLnFE596dcitP56zldahYgIhAJlZ1pQmcDbIb7l9PU+YVyWIlkPDyGY9P4gjYZeut7jf',
  },
  {
    name: 'bytes like any others',
    isValid: true,
    why: 'The body is signed as it is sent: spaces, tabs and line breaks too.',
    signature: 'MEQCIBwksXk3Ye61tEJLGGdQIANAFixfIdW2GWNSffyDBRrCAiAe/8fN9LxEHfQJIV8JE95xrgMEeoA6gDyrN+MAaFhCWA==',
    body: '{\r\n  "event_type": "pix_cash_in",\t"event": { "value_cents": 1.50e4 }\n}\n',
  },
  {
    name: 'an empty body',
    isValid: true,
    why: 'No bytes are bytes.',
    signature: 'MEYCIQDJDOUkjVXP9irPgiGQrvPaHk2Wsm/85gqXKdbFPOzoUQIhANTymZefN/HOboGySBUaWYG/bVq7Zghv+oBRwOS+Yszd',
    body: '',
  },
  {
    name: 'another body',
    isValid: false,
    why: 'One digit differs.',
    signature: 'MEUCIQC6bidMJQh/9u2C3fUniXB4aLnFE596dcitP56zldahYgIgZqYpatmPyTiQRoLCsGeo2jRQtunesWFFa5ZpK02rbHI=',
    body: '{"event_type":"pix_cash_in","event":{"payer_name":"João Ninguém","value_cents":15001}}',
  },
  {
    name: 'another Unicode form',
    isValid: false,
    why: 'The same letters in other bytes.',
    signature: 'MEUCIQC6bidMJQh/9u2C3fUniXB4aLnFE596dcitP56zldahYgIgZqYpatmPyTiQRoLCsGeo2jRQtunesWFFa5ZpK02rbHI=',
    body: '{"event_type":"pix_cash_in","event":{"payer_name":"João Ninguém","value_cents":15000}}'.normalize('NFD'),
  },
  {
    name: 'another key',
    isValid: false,
    why: 'Signed with a key that is not the one of this public key.',
    signature: 'MEUCIQC6bidMJQh/9u2C3fUniXB4aLnFE596dcitP56zldahYgIgZqYpatmPyTiQRoLCsGeo2jRQtunesWFFa5ZpK02rbHI=',
    isOther: true,
  },
  {
    name: 'not DER',
    isValid: false,
    why: 'The two numbers one after the other, as IEEE P1363 and JOSE write them: 64 bytes.',
    signature: 'um4nTCUIf/btgt31J4lweGi5xROfenXIrT+es5XWoWKZWdaUJnA2yG+5fT1PmFcliJZDw8hmPT+II2GXrre43w==',
  },
  {
    name: 'SHA-1',
    isValid: false,
    why: 'The hash is SHA-256.',
    signature: 'MEUCID/6EfNB2I61M/6BqsDqktQvi2/Qv/rSbt3Zvm/wUHUYAiEAu1p7lMQJPE6DpnIpTBlx0+iZZvoTcqQt7ZKxfqTUa4c=',
  },
  {
    name: 'hashed twice',
    isValid: false,
    why: 'The SHA-256 was signed as if it were the body.',
    signature: 'MEUCIQDpuAEkWx7d7aw5IhajHx7X0u8djTy3UOQxDoRGoS93vwIgCkKXODwL89vMlzouTwdBvmZcBNGy8XG9AIOt3/L3Hts=',
  },
  {
    name: 'the hash in hexadecimal',
    isValid: false,
    why: 'Its text was signed.',
    signature: 'MEYCIQCdjq54ti4GF0TdvDJ3PuM7vxqWk2bKtFXs9brCbfSZLwIhAL4VFKwDxI5Jt5pwqPb5A5Ga6YbrfpFtQ3nKiOu1MXWi',
  },
  {
    name: 'cut short',
    isValid: false,
    why: 'The last byte is missing.',
    signature: 'MEUCIQC6bidMJQh/9u2C3fUniXB4aLnFE596dcitP56zldahYgIgZqYpatmPyTiQRoLCsGeo2jRQtunesWFFa5ZpK02rbA==',
  },
  {
    name: 'the numbers nought',
    isValid: false,
    why: 'Neither number may be nought.',
    signature: 'MAYCAQACAQA=',
  },
  {
    name: 'no signature',
    isValid: false,
    why: 'An empty header.',
    signature: '',
  },
]
