import { openLoopPressure } from '#shared/admission/loop-pressure.ts'
import { processSettings } from '#shared/config/process.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { ServiceContext, RunningService, ServiceStarter } from '#shared/lifecycle/service.ts'
import { createApplication, createMessageClasses } from './application.ts'
import { limitConcurrency } from './server/capacity.ts'
import { settings } from './config.ts'
import type { Gateway } from './gateway.ts'
import { startListener } from './server/listener.ts'
import type { Route } from './http-route.ts'
import { openGateway } from './open-gateway.ts'
import { routes } from './routes.ts'
import { createSecurityHeaders } from './server/security-headers.ts'
import { openWebBuild, resolveWebDirectory, type WebBuild } from './web/web-build.ts'

/** Share of the shutdown grace period for draining requests; the rest is for releasing resources. */
const drainingShare = 0.8

export const start: ServiceStarter = async (context) =>
  startGatewayService(context, openWebBuild(resolveWebDirectory(context.env), context.telemetry.log))

/** Starts the gateway for a web build. */
export const startGatewayService = async (
  context: ServiceContext,
  web: WebBuild,
  identify?: Gateway['identify'],
  served: readonly Route[] = routes,
): Promise<RunningService> => {
  const { env, readiness, telemetry } = context
  const { HOST, PORT, SVC_REQUEST_TIMEOUT_MS, SHUTDOWN_GRACE_MS } = parseSettings(
    { ...settings, ...processSettings },
    env,
  )
  await using opening = new AsyncDisposableStack()
  const gateway = await openGateway(context, web, opening)
  const headers = createSecurityHeaders(web.indexHtml, web.facts)
  const headersOf = (indexHtml: string) => createSecurityHeaders(indexHtml, web.facts).page
  const application = createApplication(identify ? { ...gateway, identify } : gateway, {
    routes: served,
    headers,
    web: web.directory === undefined ? undefined : { directory: web.directory, headersOf },
  })
  const admitting = limitConcurrency(application, gateway, opening.use(openLoopPressure()), headers.api)
  const listener = opening.use(
    await startListener(admitting, {
      port: PORT,
      host: HOST,
      graceMs: SHUTDOWN_GRACE_MS * drainingShare,
      // Twice the timeout, so that a route that times out can still send its response.
      stalledAfterMs: 2 * SVC_REQUEST_TIMEOUT_MS,
      messages: createMessageClasses(application),
    }),
  )
  readiness.require('http', () => listener.listening)
  telemetry.log.info({ url: listener.url, webBuilt: web.directory !== undefined }, 'gateway started')
  const running = opening.move()
  return { url: listener.url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
