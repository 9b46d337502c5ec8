declare module 'emvqr' {
  /** Objects by id. `data` of accounts (02–51) and additional data (62) is their objects, otherwise text. */
  type EmvObjects = Readonly<Record<string, { readonly data: EmvObjects & string }>>

  const emvqr: {
    /** @throws Error for a wrong CRC, and for what it does not know */
    decode(code: string): EmvObjects
    decodeSubData(template: string): EmvObjects
  }
  export = emvqr
}
