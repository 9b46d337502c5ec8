import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { ApiError, type Operation, reads } from '../api.ts'
import { isOutgoing, OperationBadge } from '../states.tsx'
import { BackLink } from '../ui/controls.tsx'
import { Amount, Facts, Table, When } from '../ui/data.tsx'
import { CopyButton, CopyText, Empty, ErrorNotice, Notice, Waiting } from '../ui/feedback.tsx'
import { Said, useWords } from '../words/words.tsx'
import css from './payment.module.css'
import { PaymentActions } from './payment-actions.tsx'
import { TimelineView } from './timeline.tsx'

/** One operation: who, how much, its state in plain words, and all that happened. */
export function Payment({ id }: { readonly id: string }) {
  const words = useWords()
  const { data, error, refetch } = useQuery(reads.operation(id))
  if (error instanceof ApiError && error.status === 404) {
    return <Empty title={words.payment.notFound}>{words.payment.notFoundHint}</Empty>
  }
  if (error && !data) return <ErrorNotice error={error} onRetry={() => refetch()} />
  return (
    <>
      <BackLink href="/payments">{words.nav.payments}</BackLink>
      {data ? <Loaded operation={data} /> : <Waiting lines={9} />}
    </>
  )
}

function Loaded({ operation }: { readonly operation: Operation }) {
  const words = useWords()
  const { kind, name, externalId, valueCents, meaning } = operation
  const isOpen = kind === 'cash_in' && operation.status === 'PENDING'
  const openCases = operation.cases.filter(({ closedAt }) => closedAt === null)
  return (
    <div className={css.page}>
      <header className={css.head}>
        <p className={css.kind}>{words.kinds[kind]}</p>
        <h1 className={css.amount}>
          <Amount cents={isOutgoing(operation) ? -valueCents : valueCents} />
        </h1>
        <p className={css.who}>{name ?? externalId}</p>
        <div className={css.state}>
          <OperationBadge operation={operation} />
          <p>
            <Said text={meaning} />
          </p>
        </div>
        {operation.paymentUrl && (
          <p>
            <a href={operation.paymentUrl} target="_blank" rel="noreferrer">
              {words.payment.openPage}
            </a>
          </p>
        )}
      </header>
      {openCases.length > 0 && <OpenCases cases={openCases} />}
      <div className={css.columns}>
        <div className={css.main}>
          <PaymentActions operation={operation} />
          <Details operation={operation} />
          <Related operation={operation} />
        </div>
        {isOpen && operation.pixCode && (
          <PixCode id={operation.id} pixCode={operation.pixCode} expiresAt={operation.expiresAt} />
        )}
      </div>
      <TimelineView kind={kind} timeline={operation.timeline} known={operation} />
    </div>
  )
}

function OpenCases({ cases }: { readonly cases: Operation['cases'] }) {
  const words = useWords()
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  return (
    <Notice tone="wait">
      {cases.map(({ id, kind, meaning, amountCents }) => (
        <div key={id} className={css.case}>
          <p>
            <strong>{kinds[kind] ?? kind}</strong> {amountCents !== null && <Amount cents={amountCents} />}
          </p>
          <p>
            <Said text={meaning} />
          </p>
          <Link href={`/cases/${id}`}>{words.payment.openCase}</Link>
        </div>
      ))}
    </Notice>
  )
}

function Details({ operation }: { readonly operation: Operation }) {
  const words = useWords()
  const text = words.payment.facts
  const id = (value: string | null, label: string) =>
    value && <CopyText text={value} label={`${words.copy}: ${label}`} />
  const { feeCents, settledAt, expiresAt, apiKey, orderId, transactionId } = operation
  const bankId = operation.kind === 'cash_in' ? text.txid : text.bankId
  return (
    <section aria-labelledby="details" className={css.section}>
      <h2 id="details">{words.details}</h2>
      <Facts
        facts={[
          [operation.kind === 'cash_in' ? text.payer : text.recipient, operation.name],
          [text.document, operation.document],
          [text.key, id(operation.pixKey, text.key)],
          [text.description, operation.description],
          [text.createdAt, <When key="at" at={operation.createdAt} as="moment" />],
          [text.settledAt, settledAt && <When at={settledAt} as="moment" />],
          [text.expiresAt, operation.status === 'PENDING' && expiresAt && <When at={expiresAt} as="moment" />],
          [words.fee, feeCents > 0 && <Amount cents={feeCents} />],
          [words.apiKey, apiKey && (apiKey.name ?? <code>{apiKey.id}</code>)],
        ]}
      />
      <Facts
        of="ids"
        facts={[
          [text.externalId, id(operation.externalId, text.externalId)],
          [text.endToEndId, id(operation.endToEndId, text.endToEndId)],
          [bankId, id(transactionId, bankId)],
          [text.orderId, orderId !== transactionId && id(orderId, text.orderId)],
          [words.correlationId, id(operation.correlationId, words.correlationId)],
          [text.id, id(operation.id, text.id)],
        ]}
      />
    </section>
  )
}

function Related({ operation }: { readonly operation: Operation }) {
  const words = useWords()
  const closed = operation.cases.filter(({ closedAt }) => closedAt !== null)
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  if (operation.related.length + closed.length === 0) return null
  return (
    <section aria-labelledby="related" className={css.section}>
      <h2 id="related">{words.payment.related}</h2>
      <Table
        caption={words.payment.related}
        columns={[[words.kind], [words.state, 'wide'], [words.when, 'wide'], [words.amount, 'end']]}
      >
        {operation.related.map((one) => (
          <tr key={one.id}>
            <td>
              <Link href={`/payments/${one.id}`}>{words.kinds[one.kind]}</Link>
            </td>
            <td data-kind="wide">
              <OperationBadge operation={one} />
            </td>
            <td data-kind="wide">
              <When at={one.createdAt} />
            </td>
            <td data-kind="end">
              <Amount cents={isOutgoing(one) ? -one.valueCents : one.valueCents} />
            </td>
          </tr>
        ))}
        {closed.map(({ id, kind, amountCents, openedAt }) => (
          <tr key={id}>
            <td>
              <Link href={`/cases/${id}`}>{kinds[kind] ?? kind}</Link>
            </td>
            <td data-kind="wide">{words.cases.closedState}</td>
            <td data-kind="wide">
              <When at={openedAt} />
            </td>
            <td data-kind="end">{amountCents !== null && <Amount cents={amountCents} />}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

interface PixCodeProps {
  readonly id: string
  readonly pixCode: string
  readonly expiresAt: string | null
}

function PixCode({ id, pixCode, expiresAt }: PixCodeProps) {
  const words = useWords()
  const { data, error } = useQuery(reads.qrCode(id))
  return (
    <aside className={css.code} aria-labelledby="code">
      <h2 id="code">{words.payment.qrCode}</h2>
      <div className={css.qr}>{data && <QrCode svg={data} label={words.payment.qrCodeOf} />}</div>
      {error && <ErrorNotice error={error} />}
      <h3>Pix Copia e Cola</h3>
      <div className={css.copyPaste}>
        <code>{pixCode}</code>
        <CopyButton text={pixCode} label={words.payment.copyCode} />
      </div>
      {expiresAt && (
        <p className={css.quiet}>
          {words.payment.facts.expiresAt}: <When at={expiresAt} as="moment" />
        </p>
      )}
    </aside>
  )
}

/** The policy allows no image from a text, so the path of the service's image is drawn anew. */
function QrCode({ svg, label }: { readonly svg: string; readonly label: string }) {
  const [, size] = /viewBox="0 0 (\d+) \d+"/.exec(svg) ?? []
  const modules = [...svg.matchAll(/<path d="([Mhvz\d -]+)"/g)].map(([, path]) => path)
  if (size === undefined) return null
  return (
    <svg viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img" aria-label={label}>
      {modules.map((path) => (
        <path key={path} d={path} fill="#000" />
      ))}
    </svg>
  )
}
