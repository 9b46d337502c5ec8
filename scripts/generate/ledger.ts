import { accounts, type JournalTemplate, journals, type Posting, variables } from '@pixgate/spec'
import { code, type GeneratedDocument, markdown, table } from './document.ts'

/** The ledger's accounts and journal templates. */
export function ledgerDocument(): GeneratedDocument {
  return markdown(
    'docs/generated/ledger.md',
    'Ledger',
    'Signed integer centavos. The entries of every journal sum to zero; an amount of zero is not written. The rules ' +
      'are in [rules.md](../rules.md#ledger).',
    '## Accounts',
    table(
      ['account', 'symbol', 'bound', 'content'],
      Object.entries(accounts).map(([name, { symbol, bound, meaning }]) => [code(name), symbol, bound, meaning]),
    ),
    '## Amounts',
    table(
      ['amount', 'meaning'],
      Object.entries(variables).map(([name, meaning]) => [name, meaning]),
    ),
    '## Journals',
    ...Object.entries<JournalTemplate>(journals).flatMap(journalSection),
  )
}

function journalSection([kind, { symbol, meaning, postings }]: [string, JournalTemplate]): string[] {
  return [
    `### ${kind}`,
    `${symbol}: ${meaning}.`,
    table(
      ['account', 'amount', 'shown to the merchant as'],
      postings.map((posting) => [
        code(posting.account),
        amountText(posting),
        'shown' in posting ? code(posting.shown) : '',
      ]),
    ),
  ]
}

function amountText({ amount }: Posting): string {
  const terms = Object.entries(amount).map(([name, sign]) => `${sign < 0 ? '−' : '+'} ${name}`)
  return terms.join(' ').replace(/^\+ /, '').replace(/^− /, '−')
}
