import { noQuery } from '#proto/http/parameters.ts'
import { Version } from '#proto/http/status.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { settings } from '../config.ts'
import { getRoute } from '../route.ts'

const { APP_VERSION, EDGE_WORKERS, EDGE_PAGES, EDGE_LOCAL_EMULATOR } = settings
/** What the web's version is called while there is no web. */
const unbuilt = '0.0.0-unbuilt'

export const version = getRoute({
  path: '/api/version',
  feature: null,
  access: 'anonymous',
  limit: 'none',
  query: noQuery,
  answer: Version,
  handle: async (_asked, { build, env, version }) => ({
    ui: edgeVersion(env) ?? build?.version ?? unbuilt,
    version,
    gitSha: build?.gitSha ?? null,
    gitRef: build?.gitRef ?? null,
    builtAt: build?.builtAt ?? null,
  }),
})

/** Edge platforms deploy the web apart from its build, so there the operator's word counts. */
const edgeVersion = (env: Environment): string | undefined => {
  const edge = read({ APP_VERSION, EDGE_WORKERS, EDGE_PAGES, EDGE_LOCAL_EMULATOR }, env)
  return edge.EDGE_WORKERS || edge.EDGE_PAGES || edge.EDGE_LOCAL_EMULATOR ? edge.APP_VERSION : undefined
}
