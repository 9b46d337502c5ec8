import fc from 'fast-check'

/** Pix keys of every type, and one as long as a key can be. */
export const pixKey = fc.constantFrom(
  'pix@example.com',
  '+5511999998888',
  '12345678909',
  '12ABC34501DE35',
  '123e4567-e12b-12d1-a456-426655440000',
  'k'.repeat(77),
)

const alphanumeric = fc.constantFrom(...'ABCXYZabcxyz0189')
const name = (maxLength: number) =>
  fc.stringMatching(new RegExp(`^[!-~]( ?[!-~]){0,${Math.floor((maxLength - 1) / 2)}}$`))

const merchant = {
  merchantName: name(25),
  merchantCity: name(15),
  merchantCategoryCode: fc.stringMatching(/^\d{4}$/),
  postalCode: fc.stringMatching(/^\d{8}$/),
}

/** What a static code can be built from; names as they are read back. */
export const staticInput = fc.record(
  {
    pixKey,
    amountCents: fc.bigInt({ min: 1n, max: 999_999_999_999n }),
    txid: fc.string({ unit: alphanumeric, minLength: 1, maxLength: 25 }),
    ...merchant,
  },
  { requiredKeys: ['pixKey', 'merchantName', 'merchantCity'] },
)

/** What a dynamic code can be built from; names as they are read back. */
export const dynamicInput = fc.record(
  { url: fc.stringMatching(/^[a-z]{1,9}\.[a-z]{1,9}\/[!-~]{1,58}$/), ...merchant },
  { requiredKeys: ['url', 'merchantName', 'merchantCity'] },
)
