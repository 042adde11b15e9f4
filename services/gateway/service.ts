import { fileURLToPath } from 'node:url'
import { alerts } from '#proto/alerts.ts'
import { query } from '#proto/query.ts'
import { processSettings } from '#shared/config/process.ts'
import { read } from '#shared/config/setting.ts'
import type { Context, Running, Start } from '#shared/service.ts'
import { openCounters } from '#shared/store/open-counters.ts'
import packageFacts from '../../package.json' with { type: 'json' }
import { openApplication } from './application.ts'
import { openAuth } from './auth/auth.ts'
import { openApiKeys } from './auth/keys/keys.ts'
import { askJson } from './auth/outgoing.ts'
import { settings } from './config.ts'
import { openExposition } from './exposition/exposition.ts'
import type { Gateway } from './gateway.ts'
import { readFeatureFile } from './features/file.ts'
import { openPolicy } from './features/policy.ts'
import { openHostList } from './host-list.ts'
import { openGuests } from './limits/guests.ts'
import { openLimits } from './limits/limits.ts'
import { listen } from './listener.ts'
import type { Route } from './route.ts'
import { routes } from './routes.ts'
import { securityHeaders } from './security-headers.ts'
import { openWebBuild, type WebBuild } from './web-build.ts'

const webDirectory = fileURLToPath(new URL('../../web/build', import.meta.url))
/** Of the time to stop: what is left is for releasing what the answers used. */
const drainingShare = 0.8

export const start: Start = async (context) => startWith(context, openWebBuild(webDirectory, context.telemetry.log))

/** Starts the gateway before a given web build. */
export const startWith = async (
  context: Context,
  web: WebBuild,
  identify?: Gateway['identify'],
  served: readonly Route[] = routes,
): Promise<Running> => {
  const { bus, clock, env, readiness, store, telemetry } = context
  const { HOST, PORT, SVC_REQUEST_TIMEOUT_MS, SHUTDOWN_GRACE_MS } = read({ ...settings, ...processSettings }, env)
  await using opening = new AsyncDisposableStack()
  const counters = opening.use(await openCounters(env, telemetry.log))
  const client = bus.client(query)
  const keys = openApiKeys({ env, store, clock })
  const auth = openAuth({ env, build: web.facts, keys, clock, log: telemetry.log, ask: askJson })
  const hosts = openHostList(client, clock)
  const gateway: Gateway = {
    env,
    clock,
    telemetry,
    query: client,
    hosts,
    exposition: openExposition({ query: client, alerts: bus.client(alerts), hosts, clock, log: telemetry.log }),
    build: web.facts,
    version: packageFacts.version,
    requestTimeoutMs: SVC_REQUEST_TIMEOUT_MS,
    keys,
    auth,
    identify: identify ?? auth.identify,
    policy: openPolicy(env, web.facts, readFeatureFile(env, telemetry.log)),
    limits: openLimits(env, clock, counters),
    guests: openGuests(store),
  }
  const headers = securityHeaders(web.indexHtml, web.facts)
  const application = openApplication(gateway, { routes: served, headers, webDirectory: web.directory })
  const listener = opening.use(
    await listen(application, {
      port: PORT,
      host: HOST,
      graceMs: SHUTDOWN_GRACE_MS * drainingShare,
      // A route that is still waiting for its answer must be able to say so before its connection counts as dead.
      stalledAfterMs: 2 * SVC_REQUEST_TIMEOUT_MS,
    }),
  )
  readiness.require('http', () => listener.listening)
  telemetry.log.info({ url: listener.url, webBuilt: web.directory !== undefined }, 'gateway listens')
  const running = opening.move()
  return { url: listener.url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
