// Run by the CronJobs: asks one route of the gateway once, and fails when the answer is a failure.
const { CRON_URL = '', CRON_SECRET = '', WITHIN_SECONDS = '240' } = process.env
const answer = await fetch(CRON_URL, {
  headers: { authorization: `Bearer ${CRON_SECRET}` },
  signal: AbortSignal.timeout(Number(WITHIN_SECONDS) * 1_000),
})
console.log(answer.status, await answer.text())
process.exitCode = answer.ok ? 0 : 1
