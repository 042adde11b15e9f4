import type { alerts } from '#proto/alerts.ts'
import { ChatInstallation, type chatApplicationMethods } from '#proto/chat-application.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { takesChatActions } from '#shared/config/chat-application.ts'
import { read } from '#shared/config/setting.ts'
import { noSuch } from '#shared/no-such.ts'
import type { Context } from '#shared/service.ts'
import { type Kept, openKept, sealed } from './kept.ts'
import type { ChatApplication } from './open.ts'
import { chatApplicationSettings, type Installing, installing } from './settings.ts'
import { exchangeCode, pageOf, revokeToken } from './slack.ts'

export type ChatApplicationHandlers = Pick<Handlers<typeof alerts>, keyof typeof chatApplicationMethods>

interface Answering extends Pick<Context, 'env' | 'net' | 'clock' | 'telemetry'> {
  chatApplication: ChatApplication
}

/** What people may do with the chat application. */
export const chatApplicationHandlers = (answering: Answering): ChatApplicationHandlers => {
  const { env, net, clock, chatApplication } = answering
  return {
    async chatApplication() {
      const ready = installing(env)
      return {
        interactive: takesChatActions(env),
        missing: 'missing' in ready ? ready.missing : [],
        installations: (await chatApplication.current()).map(shown),
      }
    },
    async chatApplicationPage({ state }) {
      chatApplication.store()
      return { location: pageOf(requireReady(answering), state) }
    },
    async installChatApplication({ code }, { identity }) {
      const [store, ready, key] = [chatApplication.store(), requireReady(answering), keyOf(answering)]
      if (!key) throw missing(['CHATAPP_TOKEN_ENCRYPTION_KEY'])
      const granted = await exchangeCode(net.trusted, ready, code)
      const installed = { ...granted, installedBy: identity.subject, installedAtMs: clock.now() }
      await store.put(sealed(installed, key))
      chatApplication.changed()
      return shown(installed)
    },
    async removeChatApplication({ id }) {
      const store = chatApplication.store()
      const all = await store.all()
      const kept = all.find((each) => each.id === id)
      if (!kept)
        throw noSuch(
          'installation of the chat application',
          id,
          all.map((each) => each.id),
          'id',
        )
      await store.remove(id)
      chatApplication.changed()
      const isLast = !all.some((each) => each.id !== id && workspaceOf(each.id) === workspaceOf(id))
      if (isLast) await revoke(answering, kept)
      return shown(kept)
    },
  }
}

/** All installations of one workspace share its token. */
const workspaceOf = (id: string): string | undefined => id.split('-')[0]

/** What is removed here stays removed, whether or not the chat service hears of it. */
const revoke = async (answering: Answering, kept: Kept): Promise<void> => {
  const { net, telemetry } = answering
  const token = openKept(kept, keyOf(answering))?.token
  const isRevoked = token !== undefined && (await revokeToken(net.trusted, token).catch(() => false))
  if (!isRevoked) telemetry.log.warn({ installation: kept.id }, 'token of the chat application could not be revoked')
}

const keyOf = ({ env }: Answering) => read(chatApplicationSettings, env).CHATAPP_TOKEN_ENCRYPTION_KEY

const requireReady = ({ env }: Answering): Installing => {
  const ready = installing(env)
  if ('missing' in ready) throw missing(ready.missing)
  return ready
}

const missing = (names: readonly string[]): ServiceError =>
  new ServiceError(
    'not-implemented',
    `the chat application cannot be installed: the operator has not set ${names.join(', ')}`,
  )

const shown = (installation: ChatInstallation): ChatInstallation => ChatInstallation.parse(installation)
