import { endpoints } from '@pixgate/spec'
import { openApiDocument } from '../../src/platform/http/openapi.ts'
import { type Operation, readDocument } from './document.ts'

const INFO = { title: 'Pixgate', version: '0', description: '', license: 'Apache-2.0', defaultHost: 'localhost' }

/** What the service documents of itself, as it stands: the generated file may be older. */
export const documentedOperations: readonly Operation[] = readDocument(JSON.stringify(openApiDocument(endpoints, INFO)))
