import { endpoints } from '@pixgate/spec'
import { openApiDocument } from '../../src/platform/http/openapi.ts'
import { withoutReferences } from '../fuzz/document.ts'
import type { DeclaredHeaders } from '../fuzz/header-faults.ts'

interface DocumentText {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationText>>>>
}

interface OperationText {
  readonly responses: Readonly<Record<string, { readonly headers: DeclaredHeaders }>>
}

const INFO = { title: '', version: '', description: '', license: '', defaultHost: '' }
const { paths } = withoutReferences(JSON.parse(JSON.stringify(openApiDocument(endpoints, INFO)))) as DocumentText
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    ...operation,
  })),
)

/** What the document declares of an answer; nothing where the path or the status is none of it. */
export function declaredHeaders(method: string, address: string, status: number): DeclaredHeaders | undefined {
  const [path = ''] = address.split('?')
  const ofPath = operations.filter((operation) => operation.path.test(path))
  const operation = ofPath.find((candidate) => candidate.method === method) ?? ofPath[0]
  return operation?.responses[status]?.headers
}
