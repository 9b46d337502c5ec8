import { Type } from 'typebox'
import { operatorRoles } from './access.ts'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { cursorList, idOf, instant, nullable, PERSON_NAME, pageLimit, uuid } from './shapes.ts'

/**
 * Operators: people with a name, a role and their own token: `pix_op_test_` or `pix_op_live_`, then like an API key.
 */

/** Pattern for secret scanners. @source rules#operators.2 */
export const OPERATOR_TOKEN_PATTERN = '^pix_op_(?:test|live)_[0-9A-Za-z]{49}$'

export const operatorRole = Type.Enum([...operatorRoles], {
  title: 'OperatorRole',
  description:
    '`viewer` reads; `operator` also sets the switch and adjusts the balance; `approver` reads and approves; `admin` does what `operator` does, and makes keys and operators',
})

/** Different people must have visibly different names. @source rules#operators.1 */
const name = Type.String({
  minLength: 1,
  maxLength: limits.nameMaxLength,
  pattern: PERSON_NAME,
  description: 'Who it is, in Latin letters',
})

const EXAMPLE = {
  id: '0198c0d1-3f00-7000-8000-5e6f1a2b3c4d',
  name: 'Ana Souza',
  role: 'operator',
  createdAt: '2026-11-21T13:00:00.000Z',
} as const

/** @source rules#operators.1 */
export const createOperator = endpoint({
  id: 'createOperator',
  method: 'POST',
  path: '/operator/operators',
  auth: 'admin',
  role: 'admin',
  tag: 'Operator',
  summary: 'Make an operator; the token is shown this once',
  description:
    'One for each person: the audit trail names who did what. From the first `admin` on the administrative token makes API keys and reads the metrics, and nothing else.',
  body: Type.Object({ name, role: operatorRole }, { title: 'OperatorRequest', additionalProperties: false }),
  example: { name: EXAMPLE.name, role: EXAMPLE.role },
  responses: {
    201: {
      description: 'The token. Only its hash is kept.',
      schema: Type.Object(
        {
          id: uuid,
          name: Type.String({ maxLength: limits.nameMaxLength }),
          role: operatorRole,
          token: Type.String({ pattern: OPERATOR_TOKEN_PATTERN, maxLength: 64 }),
          createdAt: instant,
        },
        { title: 'OperatorCreated' },
      ),
      example: { ...EXAMPLE, token: 'pix_op_test_0000000000000000000000000000000000000000000000000' },
    },
  },
  errors: [],
})

const operator = Type.Object(
  {
    id: uuid,
    name: Type.String({ maxLength: limits.nameMaxLength }),
    role: operatorRole,
    display: Type.String({ maxLength: 8, description: 'The first characters of the token after the prefix' }),
    createdAt: instant,
    createdBy: nullable({ ...uuid, description: 'The operator who made it; `null`: the administrative token' }),
    lastUsedAt: nullable({ ...instant, description: 'To the minute' }),
    deactivatedAt: nullable(instant),
  },
  { title: 'Operator', description: 'A person who operates the service, never their token.' },
)

/** @source rules#operators.4 */
export const listOperators = endpoint({
  id: 'listOperators',
  method: 'GET',
  path: '/operator/operators',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'List the operators, newest first',
  description: 'Deactivated ones too; never the tokens.',
  query: Type.Object(
    {
      cursor: Type.Optional({ ...uuid, description: '`nextCursor` of the page before', examples: [EXAMPLE.id] }),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of operators, deactivated ones too',
      schema: cursorList(operator, 'OperatorPage'),
      example: {
        data: [
          {
            ...EXAMPLE,
            display: '003aUlTJ',
            createdBy: null,
            lastUsedAt: '2026-11-21T14:21:00.000Z',
            deactivatedAt: null,
          },
        ],
        pagination: { limit: 20, hasMore: false, nextCursor: null },
      },
    },
  },
  errors: [],
})

/** @source rules#operators.5 */
export const deactivateOperator = endpoint({
  id: 'deactivateOperator',
  method: 'DELETE',
  path: '/operator/operators/{id}',
  auth: 'admin',
  role: 'admin',
  tag: 'Operator',
  summary: 'Deactivate an operator, for ever',
  description: 'The token stops working within five seconds everywhere. The last active admin stays.',
  params: idOf('operator'),
  responses: { 204: { description: 'Deactivated' } },
  errors: ['not_found', 'last_admin'],
})
