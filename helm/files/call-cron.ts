// Run by the CronJobs: requests a route of the gateway once, and fails if the response is an error.
const { CRON_URL = '', CRON_SECRET = '', WITHIN_SECONDS = '240' } = process.env
const response = await fetch(CRON_URL, {
  headers: { authorization: `Bearer ${CRON_SECRET}` },
  signal: AbortSignal.timeout(Number(WITHIN_SECONDS) * 1_000),
})
console.log(response.status, await response.text())
process.exitCode = response.ok ? 0 : 1
