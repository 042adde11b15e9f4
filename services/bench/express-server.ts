import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import compression from 'compression'
import cors from 'cors'
import express from 'express'
import helmet from 'helmet'
import { Registry, Histogram } from 'prom-client'
import { startReportingServer } from './report-address.ts'

/** A minimal Express application with a health route and the same middleware as the gateway. Run as a process. */
const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time to answer.',
  labelNames: ['route', 'method', 'status'],
  registers: [new Registry()],
})

const application = express()
application.disable('x-powered-by')
application.use((request, response, next) => {
  const end = duration.startTimer()
  response.setHeader('X-Request-Id', request.get('x-request-id') ?? randomUUID())
  response.once('finish', () => end({ route: request.path, method: request.method, status: response.statusCode }))
  next()
})
application.use(helmet())
application.use(cors({ origin: [] }))
application.use(compression())
application.use(express.json())
application.get('/api/health', (_request, response) => {
  response.json({ status: 'ok', timestamp: new Date().toISOString() })
})

startReportingServer(createServer(application))
