// Entry of `npm run bench`; the sources are in src/.
import './dist/main.js';
