import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { deviceSettings } from './config.ts'

/** Where device codes are kept: the edge SQL binding when it is bound, else with all other state. */
export interface CodeStore extends AsyncDisposable {
  kind: 'edgesql' | 'store'
  store: Store
}

/** Throws `unavailable` when the bound database does not answer. */
export const openCodeStore = async (env: Environment, shared: Store, log: Logger): Promise<CodeStore> => {
  const { CONVERSATIONS_EDGESQL: bound } = read(deviceSettings, env)
  if (bound === undefined) return { kind: 'store', store: shared, [Symbol.asyncDispose]: async () => {} }
  const store = await openStore({ env: { SVC_STATE_DB_URL: bound }, busIsShared: false, log }).catch(
    (cause: unknown) => {
      throw new ServiceError('unavailable', 'the database of CONVERSATIONS_EDGESQL cannot be opened', { cause })
    },
  )
  return { kind: 'edgesql', store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}
