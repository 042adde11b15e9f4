import { z } from 'zod'
import { ChatInstallation } from '#proto/chat-application.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { open, seal } from '#shared/seal/seal.ts'

/** What the chat service gives for one installation, all of it secret. */
const Secrets = z.object({
  /** Acts as the application in its workspace. */
  token: z.string().min(1),
  /** Posts into the chat. */
  url: z.url({ protocol: /^https$/ }),
})
type Secrets = z.infer<typeof Secrets>

/** An installation as the database has it. */
export const Kept = ChatInstallation.extend({ sealed: z.string() })
export type Kept = z.infer<typeof Kept>

/** An installation that can be sent to. */
export type OpenInstallation = ChatInstallation & Secrets

/** What secrets are bound to: they open for no other chat. */
const aboutOf = (id: string): string => JSON.stringify(['chat-application', id])

/** An installation as it is kept. */
export const sealed = ({ token, url, ...shown }: OpenInstallation, key: RotatingKey): Kept => ({
  ...shown,
  sealed: seal(JSON.stringify({ token, url }), aboutOf(shown.id), key),
})

/** The installation, readable; undefined when the present key does not open it. */
export const openKept = ({ sealed, ...shown }: Kept, key: RotatingKey | undefined): OpenInstallation | undefined => {
  const text = key && open(sealed, aboutOf(shown.id), key)
  return text === undefined ? undefined : { ...shown, ...Secrets.parse(JSON.parse(text)) }
}
