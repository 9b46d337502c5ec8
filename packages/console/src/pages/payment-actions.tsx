import {
  type ReceiptKind,
  receiptStatuses,
  type refundPayment,
  type sandboxEndpoints,
  type sharedWithOperators,
} from '@pixgate/spec'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { call, callOnce, client, type Operation, readFile } from '../api.ts'
import { amountText, centsOf, reais } from '../format.ts'
import { useSession, useWhyNot } from '../session.tsx'
import { Button, Field, Input, ReasonField, useAmountError } from '../ui/controls.tsx'
import { ConfirmDialog, Dialog, DialogButtons } from '../ui/dialog.tsx'
import { announce, ErrorNotice, Notice } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useWords } from '../words/words.tsx'
import { saveFile } from './csv.ts'
import css from './payment.module.css'

/** What can be done with an operation, and why some of it cannot be done now. */

type OfferedAction = Operation['actions'][number]

const RECEIPT_PATHS = { cash_in: 'cash-ins', cash_out: 'cash-outs', refund_in: 'refunds' } as const

export function PaymentActions({ operation }: { readonly operation: Operation }) {
  const words = useWords()
  const { hasSimulatedBank } = useSession()
  const roleWhyNot = useWhyNot('operator')
  const [open, setOpen] = useState<OfferedAction>()
  const close = () => setOpen(undefined)
  const codes: Readonly<Record<string, string>> = words.errors
  const whyNot = ({ isOffered, whyNot: code }: OfferedAction) => {
    return isOffered ? roleWhyNot : (codes[code ?? ''] ?? code ?? words.errors.not_possible_in_state)
  }
  return (
    <div className={css.actions}>
      {hasSimulatedBank && operation.kind === 'cash_in' && operation.status === 'PENDING' && (
        <PayInSandbox charge={operation} />
      )}
      {operation.actions.map((action) => (
        <Button
          key={action.action}
          look={action.action === 'refund' ? 'primary' : 'danger'}
          whyNot={whyNot(action)}
          onClick={() => setOpen(action)}
        >
          {words.payment.actions[action.action]}
        </Button>
      ))}
      <Receipt operation={operation} />
      <CopyCurl id={operation.id} />
      {open?.action === 'refund' && <RefundDialog operation={operation} action={open} onClose={close} />}
      {open?.action === 'cancel' && <CancelDialog id={operation.id} onClose={close} />}
    </div>
  )
}

function Receipt({ operation: { id, kind, status } }: { readonly operation: Operation }) {
  const text = useWords().payment.receipt
  const [error, setError] = useState<Error>()
  const [isBlocked, setIsBlocked] = useState(false)
  if (!isReceiptKind(kind) || !receiptStatuses[kind].includes(status)) return null
  const path = `/operator/${RECEIPT_PATHS[kind]}/${id}/receipt`
  const print = () => {
    // Opened at the click, as browsers refuse windows that open later.
    const page = window.open('', '_blank')
    setIsBlocked(page === null)
    if (page === null) return
    readFile(path, { format: 'html' }).then(
      ({ content }) => page.location.replace(URL.createObjectURL(content)),
      (error: Error) => {
        page.close()
        setError(error)
      },
    )
  }
  const save = () => saveFile(path, { format: 'pdf' }).catch(setError)
  return (
    <>
      <Button onClick={print}>{text.print}</Button>
      <Button onClick={save}>{text.pdf}</Button>
      {isBlocked && (
        <div role="alert">
          <Notice tone="bad">{text.blocked}</Notice>
        </div>
      )}
      {error && <ErrorNotice error={error} />}
    </>
  )
}

/** The payer's part, in the sandbox. */
function PayInSandbox({ charge: { id, valueCents } }: { readonly charge: Operation }) {
  const words = useWords()
  const whyNot = useWhyNot('operator')
  const { mutate, error, isPending } = useSubmit({
    mutationFn: () =>
      call<(typeof sandboxEndpoints)['payCashIn']>('POST', `/operator/sandbox/cash-in/${id}/pay`, {
        body: { valueCents },
      }),
    onSuccess: () => {
      announce(words.sandbox.acts.pay.done)
      return client.invalidateQueries()
    },
  })
  return (
    <>
      <Button look="primary" isBusy={isPending} whyNot={whyNot} onClick={() => mutate()}>
        {words.payment.pay}
      </Button>
      {error && <ErrorNotice error={error} />}
    </>
  )
}

function isReceiptKind(kind: Operation['kind']): kind is ReceiptKind {
  return kind in receiptStatuses
}

function CopyCurl({ id }: { readonly id: string }) {
  const words = useWords()
  const command = `curl -H "Authorization: Bearer $PIXGATE_OPERATOR_TOKEN" ${location.origin}/operator/operations/${id}`
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => announce(words.copied),
      () => announce(words.copyFailed),
    )
  return (
    <Button icon="copy" look="quiet" onClick={copy}>
      {words.payment.curl}
    </Button>
  )
}

interface RefundProps {
  readonly operation: Operation
  readonly action: OfferedAction
  readonly onClose: () => void
}

function RefundDialog({ operation, action, onClose }: RefundProps) {
  const words = useWords()
  const text = words.payment.refund
  const [, navigate] = useLocation()
  const maxCents = action.maxCents ?? operation.valueCents
  const [amount, setAmount] = useState(amountText(maxCents))
  const [reason, setReason] = useState('')
  const cents = centsOf(amount)
  const amountError = useAmountError(amount, maxCents)
  const amountLabel = cents === undefined || amountError !== undefined ? undefined : reais(cents)
  const { mutate, error, isPending } = useSubmit({
    mutationFn: () =>
      callOnce<typeof refundPayment>('POST', '/operator/refunds', {
        cashInId: operation.id,
        valueCents: cents,
        reason: reason.trim(),
      }),
    onSuccess: (answer) => {
      void client.invalidateQueries()
      onClose()
      announce('refundId' in answer ? text.ordered : text.proposed)
      navigate('refundId' in answer ? `/payments/${answer.refundId}` : `/cases/${answer.caseId}`)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (amountError === undefined && !isPending) mutate()
  }
  return (
    <Dialog title={text.title} onClose={onClose}>
      <form onSubmit={submit} className={css.form}>
        <p>{text.hint(operation.name)}</p>
        <Field label={words.amount} hint={text.most(reais(maxCents))} error={amountError}>
          {(props) => (
            <Input
              {...props}
              inputMode="decimal"
              required
              value={amount}
              onChange={({ target }) => setAmount(target.value)}
            />
          )}
        </Field>
        <ReasonField value={reason} hint={text.reasonHint} onChange={setReason} />
        {action.needsSecondPerson && <Notice tone="wait">{words.secondPerson}</Notice>}
        {error && <ErrorNotice error={error} />}
        <DialogButtons>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look="primary" isBusy={isPending}>
            {action.needsSecondPerson ? text.propose(amountLabel) : text.submit(amountLabel)}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}

function CancelDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const words = useWords()
  const text = words.payment.cancel
  return (
    <ConfirmDialog
      title={text.title}
      label={text.submit}
      back={words.back}
      onConfirm={() =>
        call<(typeof sharedWithOperators)['cancelOperatorCharge']>('POST', `/operator/cash-ins/${id}/cancel`)
      }
      onDone={({ status }) => {
        void client.invalidateQueries()
        onClose()
        announce(status === 'FAILED' ? text.done : text.asked)
      }}
      onClose={onClose}
    >
      <p>{text.hint}</p>
    </ConfirmDialog>
  )
}
