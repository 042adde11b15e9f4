import { pino } from 'pino'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { type HistoryStore, openHistoryStore } from '../../query/history/store.ts'
import type { HistoryConfig } from '../../query/history/settings.ts'

/** An installation of the product: its id and leases, which outlive the processes. */
export const openInstallation = (): Promise<Store> => openStore({ env: {}, busIsShared: false })

/** The user of the guide. */
export const historyUser: Pick<HistoryConfig, 'user' | 'password'> = { user: 'watchhouse', password: 'of the history' }

/** Opens the history store of an installation as this user, like a starting process. */
export const openHistory = (store: Store, url: string, settings: Record<string, string> = {}): HistoryStore =>
  openHistoryStore({
    env: {
      SVC_HISTORY_URL: url,
      SVC_HISTORY_USER: historyUser.user,
      SVC_HISTORY_PASSWORD: historyUser.password,
      ...settings,
    },
    store,
    log: pino({ level: 'silent' }),
  })
