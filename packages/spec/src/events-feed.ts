import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { eventExamples, eventTypeName } from './events.ts'
import { limits } from './limits.ts'
import { CURSOR, instant, int64, pageLimit, uuid } from './shapes.ts'

/** The feed of all notifications, independent of registered endpoints. */

const place = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

const event = Type.Object(
  {
    position: int64({ ...place, minimum: 1, description: 'Its place in the feed: 1, 2, 3 without a gap' }),
    id: { ...uuid, description: 'The `webhook-id` of its deliveries' },
    type: eventTypeName,
    cursor: Type.String({ maxLength: 64, description: 'To be sent next by a reader that has handled this event' }),
    createdAt: instant,
    body: Type.String({
      maxLength: limits.bodyMaxBytes,
      description: 'The text that endpoints receive. Its UTF-8 bytes are the ones sent and signed',
    }),
    signature: Type.String({ maxLength: 128, description: 'As `Digital-Signature`: Base64 of DER' }),
    signatureKeyId: Type.String({ maxLength: 64, description: 'As `Digital-Signature-Key-Id`' }),
  },
  { title: 'FeedEvent', description: 'A notification, as endpoints receive it, and its place in the feed.' },
)

/** Example of a cursor: an encoded position and id. */
export const CURSOR_EXAMPLE = 'djE6MTA0MjoyYjNjNGQ1ZTZmNzA'

/** Before the first event: the one cursor that every feed knows. */
export const FIRST_CURSOR = 'djE6MDo'

const eventExample = {
  position: 1042,
  id: '0198c0df-11b2-7000-8000-2b3c4d5e6f70',
  type: 'pix_cash_in',
  cursor: CURSOR_EXAMPLE,
  createdAt: '2026-11-21T13:15:00.417Z',
  body: JSON.stringify(eventExamples.pix_cash_in),
  signature: 'MEQCIG0g8uMwJUa3gduODyHGILSZmzIes2HUy/qrEB5/Cp29AiBFk6B2ZFtP6OM/TbJ60cw1ywmW9WHoMs3VeLpGQZwsaw==',
  signatureKeyId: 'brBF9ATMQOcuvXdP',
} as const

/** @source rules#feed.3 */
export const listEvents = endpoint({
  id: 'listEvents',
  method: 'GET',
  path: '/api/pix/events',
  auth: 'api-key',
  scope: 'read',
  tag: 'Webhooks',
  summary: 'Read the feed of events',
  description:
    'Every notification there is, in the order in which they were committed, as endpoints receive it: to catch up after an outage, and to prove that nothing is missing. Without `cursor` it begins with the first that is kept; keep `nextCursor`, which is always there, and go on with it.',
  query: Type.Object(
    {
      cursor: Type.Optional(
        Type.String({
          pattern: CURSOR,
          description: `\`nextCursor\` of the page before; \`${FIRST_CURSOR}\` stands before the first event`,
          examples: [FIRST_CURSOR],
        }),
      ),
      limit: pageLimit,
      type: Type.Optional(eventTypeName),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: limits.eventsWaitMaxSeconds,
          default: 0,
          description: 'Seconds to wait for an event where there is none',
          examples: [1],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'The next events, oldest first',
      schema: Type.Object(
        {
          data: Type.Array(event, { maxItems: limits.pageLimitMax }),
          pagination: Type.Object(
            {
              limit: Type.Integer({ minimum: 1, maximum: limits.pageLimitMax }),
              hasMore: Type.Boolean({
                description: 'Whether there may be more already; `data` may be empty all the same',
              }),
              nextCursor: Type.String({ maxLength: 64, description: 'To be sent next, whether there is more or not' }),
            },
            { title: 'FeedPagination' },
          ),
          feed: Type.Object(
            {
              firstPosition: int64({
                ...place,
                description: 'The first place that can be read: before it all is erased',
              }),
              lastPosition: int64({ ...place, description: 'The last place there is; 0 where there is none' }),
            },
            { title: 'FeedBounds' },
          ),
        },
        { title: 'FeedPage' },
      ),
      example: {
        data: [eventExample],
        pagination: { limit: 20, hasMore: false, nextCursor: CURSOR_EXAMPLE },
        feed: { firstPosition: 1, lastPosition: 1042 },
      },
    },
  },
  isLongPoll: true,
  errors: ['validation_error', 'events_erased', 'cursor_unknown'],
})
