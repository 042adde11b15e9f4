import { conversationBackends } from '#proto/conversations.ts'
import { flag, oneOf, optional, secret, type Setting, url, whole } from '#shared/config/setting.ts'
import { edgeBinding } from '#shared/store/edge-binding.ts'

const protocols = ['https', 'http']
const hostedService = 'https://agentstate.app/api'

const serviceUrl = (doc: string): Setting<URL> => ({
  ...url(doc, { protocols }),
  fallback: hostedService,
  parse: (given) => {
    const address = url(doc, { protocols }).parse(given) ?? new URL(hostedService)
    if (address.username !== '' || address.password !== '') throw new Error('must not hold a user or a password')
    return address
  },
})

/** A key as a header can carry it. */
const headerSecret = (doc: string): Setting<string | undefined> => ({
  ...secret(doc),
  parse: (given) => {
    if (given === undefined || /^[\x21-\x7e]+$/.test(given)) return given
    throw new Error('must be one word of printable ASCII')
  },
})

const databaseId = (doc: string): Setting<string | undefined> => ({
  ...optional(doc),
  allowed: 'letters, digits and dashes, 63 at most',
  parse: (given) => {
    if (given === undefined || /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/i.test(given)) return given
    throw new Error('must be letters, digits and dashes between them, 63 at most')
  },
})

/** Where conversations are kept, and for how long. */
export const conversationSettings = {
  CONVERSATION_STORE_BACKEND: oneOf(
    ['auto', ...conversationBackends],
    'auto',
    'Where conversations are kept. auto is the first of convstore, edgesql, postgres and memory whose prerequisite is there; one that is named must have its own.',
  ),
  CONVSTORE_API_KEY: headerSecret('Project key of the conversation service; with it conversations are kept there.'),
  CONVSTORE_BASE_URL: serviceUrl('API of the conversation service, where it is not the hosted one.'),
  CONVSTORE_AI_ENRICH: flag(
    false,
    'Whether conversations in the conversation service get titles and follow-up questions from a language model.',
  ),
  ...edgeBinding,
  CONVERSATIONS_EDGESQL_DATABASE_ID: databaseId(
    'Database of the binding CONVERSATIONS_EDGESQL that holds conversations: of a server the name before its host, of a file: the file of that name beside it. Without one it is the binding itself.',
  ),
  AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID: databaseId('Another name of CONVERSATIONS_EDGESQL_DATABASE_ID.'),
  SVC_CONVERSATIONS_DAYS: whole(180, 'Conversations are removed this many days after they were last changed.', {
    min: 1,
    max: 3_650,
  }),
} as const
