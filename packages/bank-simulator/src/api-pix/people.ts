/** Name and CPF or CNPJ of a person or company. */
interface Named {
  readonly name: string
  readonly document: string
}

/** A person or company as API Pix returns it. */
export interface Person {
  readonly nome: string
  readonly cpf?: string
  readonly cnpj?: string
}

/** Formats a person or company as API Pix returns it. */
export function personOf({ name: nome, document }: Named): Person {
  return document.length === 11 ? { cpf: document, nome } : { cnpj: document, nome }
}

/** Formats a person or company as Efí returns it: a CPF is partly masked. */
export function maskedPerson({ name: nome, document }: Named): Person {
  const [, first, second] = /^\d{3}(\d{3})(\d{3})\d{2}$/.exec(document) ?? []
  return first === undefined ? { nome, cnpj: document } : { nome, cpf: `***.${first}.${second}-**` }
}
