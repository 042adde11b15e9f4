import { conversationBackends } from '#proto/conversations.ts'
import { flag, oneOf, optional, type Setting, whole } from '#shared/config/setting.ts'
import { convstoreSettings } from '#shared/convstore/config.ts'
import { edgeBinding } from '#shared/store/edge-binding.ts'

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
  ...convstoreSettings,
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
