import { openTestDatabase } from '@timelake/testing/open-test-database'
import { describeDatabaseContract } from './contract/describe-database-contract.ts'

describeDatabaseContract('PGlite', openTestDatabase)
