import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { reads } from '../api.ts'
import { reais } from '../format.ts'
import { OperationBadge } from '../states.tsx'
import { useWords } from '../words/words.tsx'

/** An operation as people name it: how much, and whose it is. */
export function OperationLink({ id }: { readonly id: string }) {
  const words = useWords()
  const { data } = useQuery(reads.operation(id))
  if (!data) return <Link href={`/payments/${id}`}>{words.webhooks.openOperation}</Link>
  return (
    <>
      <Link href={`/payments/${id}`}>
        {words.payment.of(words.kinds[data.kind], reais(data.valueCents), data.name ?? data.externalId)}
      </Link>{' '}
      <OperationBadge operation={data} />
    </>
  )
}
