#!/usr/bin/env node
import { main } from '../dist/server/cli.js';

process.exitCode = await main(process.argv.slice(2), process);
