import type { Environment } from '#shared/config/environment.ts'
import { maybeFlag, type Setting, type SettingProblem, text, url } from '#shared/config/setting.ts'

const maxSubjectLength = 256

const subject = (fallback: string, doc: string): Setting<string> => ({
  ...text(fallback, doc),
  allowed: `text of at most ${maxSubjectLength} characters`,
  parse: (given = fallback) => {
    if (given.length <= maxSubjectLength) return given
    throw new Error(`must not be longer than ${maxSubjectLength} characters`)
  },
})

const databases = ['libsql', 'https', 'http', 'wss', 'ws', 'file'] as const

/** The address of a database as it was written: a file may be named from where the process runs. */
const databaseUrl = (doc: string): Setting<string | undefined> => {
  const setting = url(doc, { protocols: databases, audience: 'secret' })
  return {
    ...setting,
    parse: (given) => {
      setting.parse(given)
      return given
    },
  }
}

/** What signing in a command line obeys. */
export const deviceSettings = {
  SVC_DEVICE_LOGIN: {
    ...maybeFlag(
      'Device login of command lines, which needs SVC_API_KEY_SECRET; auto is on in cloud mode. With the provider none the operator approves.',
    ),
    fallback: 'auto',
    allowed: 'auto, true/1/yes/on, false/0/no/off',
  },
  SVC_DEVICE_LOGIN_SUBJECT: subject('self-hosted', 'Whom keys stand for that the operator approved on a device.'),
  CONVERSATIONS_EDGESQL: databaseUrl(
    'The edge SQL binding: a libsql: server, its token as authToken in the query, or a file: of SQLite. Device codes are kept there when it is bound.',
  ),
} as const

/** What is wrong with the binding where several processes share a bus. */
export const deviceProblems = (env: Environment): readonly SettingProblem[] => {
  if (!env.NATS_URL || !env.CONVERSATIONS_EDGESQL?.startsWith('file:')) return []
  const sentence = 'a file: database cannot be shared by the processes of NATS_URL; name a libsql: server'
  return [{ name: 'CONVERSATIONS_EDGESQL', sentence }]
}
