PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (
	name VARCHAR(40) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO meta VALUES('version','1');
INSERT INTO meta VALUES('least','1');
CREATE TABLE run (
	id VARCHAR(12) NOT NULL, 
	project VARCHAR(200) NOT NULL, 
	number INTEGER NOT NULL, 
	workspace VARCHAR(12) NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	revision VARCHAR(64) NOT NULL, 
	n_passed INTEGER NOT NULL, 
	n_failed INTEGER NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	arm VARCHAR(10) NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO run VALUES('a87d7950d334','p',1,'b0368bade622','2026-11-27T15:44:55.008317+00:00','',2,1,'normal','on');
INSERT INTO run VALUES('ba189f7c8506','p',2,'b0368bade622','2026-11-27T15:45:00.018928+00:00','',2,1,'normal','on');
INSERT INTO run VALUES('66d1863d6eba','p',3,'b0368bade622','2026-11-27T15:45:03.057949+00:00','',2,1,'normal','on');
INSERT INTO run VALUES('d510c80795fe','p',4,'b0368bade622','2026-11-27T15:45:06.087607+00:00','',3,0,'normal','on');
INSERT INTO run VALUES('5fbd85ac773d','p',5,'b0368bade622','2026-11-27T15:45:13.899989+00:00','',2,1,'normal','on');
INSERT INTO run VALUES('ee6010fe8621','p',6,'b0368bade622','2026-11-27T15:45:32.328940+00:00','',2,1,'normal','on');
CREATE TABLE bug (
	seq INTEGER NOT NULL, 
	id VARCHAR(12) NOT NULL, 
	project VARCHAR(200) NOT NULL, 
	state VARCHAR(12) NOT NULL, 
	signature VARCHAR(200) NOT NULL, 
	category VARCHAR(20) NOT NULL, 
	hypothesis VARCHAR(300) NOT NULL, 
	tags TEXT NOT NULL, 
	error TEXT NOT NULL, 
	code TEXT NOT NULL, 
	demand VARCHAR(200) NOT NULL, 
	suspects TEXT NOT NULL, 
	in_test BOOLEAN NOT NULL, 
	executed TEXT NOT NULL, 
	run VARCHAR(12) NOT NULL, 
	step INTEGER NOT NULL, 
	"plan" TEXT NOT NULL, 
	root_cause TEXT NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	seen_at VARCHAR(32) NOT NULL, 
	completed_at VARCHAR(32), 
	PRIMARY KEY (seq), 
	UNIQUE (id)
);
INSERT INTO bug VALUES(1,'71ddb9ebc33c','p','resolved','ValueError: degree <int> needs <int> knots, got <int>','DATA_ERROR','most likely: test_curve.py test_cubic (83%); likely cause: the test or its data; raised at knots.py:3 in check; check needs len(knots) >= 2 * degree + 2','["api:check","api:curve","cause:test_cubic","error:ValueError","module:curve","module:knots","module:test_curve"]',replace('ValueError: degree 3 needs 8 knots, got 6\nat knots.py:3 in check','\n',char(10)),replace('def check(knots, degree):\n    if len(knots) < 2 * degree + 2:\n        raise ValueError(f"degree {degree} needs {2 * degree + 2} knots, got {len(knots)}")\n','\n',char(10)),'check needs len(knots) >= 2 * degree + 2','["test_curve.py test_cubic","curve.py curve","knots.py check"]',1,'["curve.py <module>","curve.py curve","knots.py <module>","knots.py check","test_curve.py test_cubic"]','a87d7950d334',1,'','test_curve.py test_cubic','2026-11-27T15:44:55.008317+00:00','2026-11-27T15:45:03.057949+00:00','2026-11-27T15:45:06.087607+00:00');
INSERT INTO bug VALUES(2,'3505cbbc87af','p','open','AssertionError: assert [<int>, <int>] == [<int>, <int>]','LOGIC_ERROR','most likely: knots.py spread (100%); raised at test_curve.py:14 in test_spread','["cause:spread","error:AssertionError","module:knots"]',replace('AssertionError: assert [1, 1] == [0, 0]\n  \n  At index 0 diff: 1 != 0\n  Use -v to get more diff\nat test_curve.py:14 in test_spread','\n',char(10)),replace('def test_spread():\n    assert spread(2) == [0, 0]\n','\n',char(10)),'','["knots.py spread"]',0,'["curve.py <module>","knots.py <module>","knots.py spread","test_curve.py test_spread"]','5fbd85ac773d',5,'','','2026-11-27T15:45:13.899989+00:00','2026-11-27T15:45:32.328940+00:00',NULL);
CREATE TABLE observation (
	project VARCHAR(200) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	text VARCHAR(1000) NOT NULL, 
	n INTEGER NOT NULL, 
	first_at VARCHAR(32) NOT NULL, 
	last_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (project, kind, text)
);
CREATE TABLE embedding (
	seq INTEGER NOT NULL, 
	model VARCHAR(100) NOT NULL, 
	text VARCHAR(32) NOT NULL, 
	vector BLOB NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (model, text)
);
CREATE TABLE rule (
	project VARCHAR(200) NOT NULL, 
	fingerprint VARCHAR(40) NOT NULL, 
	bug VARCHAR(12) NOT NULL, 
	PRIMARY KEY (project, fingerprint)
);
CREATE TABLE fix_pattern (
	project VARCHAR(200) NOT NULL, 
	pattern VARCHAR(600) NOT NULL, 
	bug VARCHAR(12) NOT NULL, 
	error VARCHAR(80) NOT NULL, 
	"before" TEXT NOT NULL, 
	"after" TEXT NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (project, pattern, bug)
);
CREATE TABLE failure (
	seq INTEGER NOT NULL, 
	bug INTEGER NOT NULL, 
	fingerprint VARCHAR(40) NOT NULL, 
	signature VARCHAR(200) NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (bug, fingerprint), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO failure VALUES(1,1,'1:79e7d864a87881b6','ValueError: degree <int> needs <int> knots, got <int>');
INSERT INTO failure VALUES(2,2,'1:aa8ec5df1ca6216d','AssertionError: assert [<int>, <int>] == [<int>, <int>]');
CREATE TABLE test (
	bug INTEGER NOT NULL, 
	node_id VARCHAR(1000) NOT NULL, 
	fingerprint VARCHAR(40) NOT NULL, 
	fate VARCHAR(12) NOT NULL, 
	PRIMARY KEY (bug, node_id), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO test VALUES(1,'test_curve.py::test_cubic','1:79e7d864a87881b6','passing');
INSERT INTO test VALUES(2,'test_curve.py::test_spread','1:aa8ec5df1ca6216d','failing');
CREATE TABLE trial (
	bug INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	run VARCHAR(12) NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	outcome VARCHAR(12) NOT NULL, 
	error VARCHAR(200) NOT NULL, 
	metric FLOAT NOT NULL, 
	functions TEXT NOT NULL, 
	diff TEXT NOT NULL, 
	n_added INTEGER NOT NULL, 
	n_removed INTEGER NOT NULL, 
	"plan" TEXT NOT NULL, 
	in_tests BOOLEAN NOT NULL, 
	why VARCHAR(250) NOT NULL, 
	strategy VARCHAR(150) NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	cause VARCHAR(250) DEFAULT '' NOT NULL, 
	PRIMARY KEY (bug, number), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO trial VALUES(1,1,'ba189f7c8506','2026-11-27T15:45:00.018928+00:00','failed','ValueError: degree <int> needs <int> knots, got <int>',0.0,'["knots.py check"]',replace('--- a/knots.py\n+++ b/knots.py\n@@ -1,4 +1,4 @@\n def check(knots, degree):\n-    if len(knots) < 2 * degree + 2:\n+    if len(knots) < 2 * degree + 2 and degree:\n         raise ValueError(f"degree {degree} needs {2 * degree + 2} knots, got {len(knots)}")\n \n','\n',char(10)),1,1,'',0,'the error is as it was: ValueError: degree <int> needs <int> knots, got <int>','knots.py check (+1 -1): `if len(knots) < 2 * degree + 2:` -> `if len(knots) < 2 * degree + 2 and degree:`','','');
INSERT INTO trial VALUES(1,2,'66d1863d6eba','2026-11-27T15:45:03.057949+00:00','failed','ValueError: degree <int> needs <int> knots, got <int>',0.0,'["knots.py check"]',replace('--- a/knots.py\n+++ b/knots.py\n@@ -1,4 +1,4 @@\n def check(knots, degree):\n-    if len(knots) < 2 * degree + 2 and degree:\n+    if len(knots) < 2 * degree + 2 and degree > 0:\n         raise ValueError(f"degree {degree} needs {2 * degree + 2} knots, got {len(knots)}")\n \n','\n',char(10)),1,1,'',0,'the error is as it was: ValueError: degree <int> needs <int> knots, got <int>','knots.py check (+1 -1): `if len(knots) < 2 * degree + 2 and degree:` -> `if len(knots) < 2 * degree + 2 and degree > 0:`','','');
INSERT INTO trial VALUES(1,3,'d510c80795fe','2026-11-27T15:45:06.087607+00:00','passed','',1.0,'["test_curve.py test_cubic"]',replace('--- a/test_curve.py\n+++ b/test_curve.py\n@@ -8,5 +8,5 @@\n \n def test_cubic():\n-    assert curve([0, 0, 0, 1, 1, 1], 3)\n+    assert curve([0, 0, 0, 0, 1, 1, 1, 1], 3)\n \n \n','\n',char(10)),1,1,'',1,'with test_curve.py test_cubic changed all its tests pass after 2 failed attempts','test_curve.py test_cubic (+1 -1): `assert curve([0, 0, 0, 1, 1, 1], 3)` -> `assert curve([0, 0, 0, 0, 1, 1, 1, 1], 3)`','','');
CREATE TABLE sighting (
	seq INTEGER NOT NULL, 
	bug INTEGER NOT NULL, 
	run VARCHAR(12) NOT NULL, 
	workspace VARCHAR(12) NOT NULL, 
	revision VARCHAR(64) NOT NULL, 
	seen_at VARCHAR(32) NOT NULL, 
	error VARCHAR(16) NOT NULL, 
	tests VARCHAR(16) NOT NULL, 
	n_failing INTEGER NOT NULL, 
	code_state VARCHAR(16) NOT NULL, 
	test_state VARCHAR(16) NOT NULL, 
	command VARCHAR(16) NOT NULL, 
	edited TEXT NOT NULL, 
	untested TEXT NOT NULL, 
	is_aimed BOOLEAN NOT NULL, 
	PRIMARY KEY (seq), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO sighting VALUES(1,1,'a87d7950d334','b0368bade622','','2026-11-27T15:44:55.008317+00:00','829ceb9023475f2e','378ebe610bc787d7',1,'13c6136cf852357c','69baf4d1fe71f374','c2ca0dafd1490042','[]','[]',0);
INSERT INTO sighting VALUES(2,1,'ba189f7c8506','b0368bade622','','2026-11-27T15:45:00.018928+00:00','829ceb9023475f2e','378ebe610bc787d7',1,'1b043bf3e6eb0b06','69baf4d1fe71f374','','["knots.py check"]','[]',1);
INSERT INTO sighting VALUES(3,1,'66d1863d6eba','b0368bade622','','2026-11-27T15:45:03.057949+00:00','829ceb9023475f2e','378ebe610bc787d7',1,'688cbb2602e999b7','69baf4d1fe71f374','','["knots.py check"]','[]',1);
INSERT INTO sighting VALUES(4,2,'5fbd85ac773d','b0368bade622','','2026-11-27T15:45:13.899989+00:00','da1dfc7b44639166','3066634100f568f7',1,'2a492aff6ecb9390','b60dcde81a93e99e','d3b2dcb7ee979f96','[]','[]',0);
INSERT INTO sighting VALUES(5,2,'ee6010fe8621','b0368bade622','','2026-11-27T15:45:32.328940+00:00','da1dfc7b44639166','3066634100f568f7',1,'2a492aff6ecb9390','b60dcde81a93e99e','3ae6793c0a82cb2d','[]','[]',0);
CREATE TABLE note (
	seq INTEGER NOT NULL, 
	project VARCHAR(200) NOT NULL, 
	bug INTEGER, 
	text TEXT NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (seq), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO note VALUES(1,'p',2,'we always forget the end knots','2026-11-27T15:45:32.328940+00:00');
CREATE TABLE rejected (
	bug INTEGER NOT NULL, 
	patch VARCHAR(32) NOT NULL, 
	state VARCHAR(32) NOT NULL, 
	outcome VARCHAR(1000) NOT NULL, 
	PRIMARY KEY (bug, patch), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO rejected VALUES(1,'ebf67378a9a63ce4dcda5d56a75214a6','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'07223cbcb8679e461c764e1b1ce9ff75','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'8b51608d80aee967088cf75c4a7256a6','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'536675b57243868ddad680e8270d8214','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'673a15215a454738075ea8cebf1e469d','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'301ff50dff9e57acb9d679a569c86e1c','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'463968253de0617748f0eba7511071e8','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'1ed0f5d395a6c2a3545d1caec7543276','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'1e481542a3a0b24c6dcc3343f631d4d1','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'2a3c83d906cc9b5571b5ef263069f908','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'3bc5a4cd80b0ed95da19809c90258ace','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'56ee9bc88deaa0a08d0e0107c49abed4','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'0086f84af62a698de6909d263819c273','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'2dd1f2092e0eb3ee38f536d32a3235c4','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'a827948d4a229017426deb158ee41ff3','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'82c7e697bc8de3a5593893c3d6f056e9','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'de4fcfdf635ed6200ee871fc32cfa797','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'5a03f08d84a56df97bf0a888b070dcea','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'61382c6feb8acbd538517b0a59018341','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'feff46a4706fc65e7cca4dab1bb79915','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'e666a0c2c13cd295b95d253390ac3364','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'027b93c9a569c85b64d813d64d7607dc','d56c987148977eb5aa1dd26127793556','fork:s');
INSERT INTO rejected VALUES(1,'31c30bd1514d5fa622fea4005259a88c','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'2e1a5032ae6d7a14173b3c10a0655fb5','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'81612b715dbda1d4dc5a5c217503b58f','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'d8fa716eaa8246e4ac105e37ac4873f7','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(1,'2dcbc003036179975fb99ba7f451d634','d56c987148977eb5aa1dd26127793556','fork:o');
INSERT INTO rejected VALUES(2,'ec4b81b5c5a9024469d28d510dc5e3b1','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'928f11b71ae943027adbb5e69261ffab','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'03f12a5a094d11af030778887bfe86d4','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'3b9c1ad7fc55ac48022d0020b7f655ce','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'6da2859ec8ebb8ce3ec0d374f6e1dc05','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'404ec5015274c59798a9a88677fac585','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'ce7d0b703f904774a7cf8b06ed518468','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'edd548271cf6880fb42567a841ae4436','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'bf4840752314969e2230b1e801c9f8b3','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'a5bfc9f640a5aaee9ec100258b0b725e','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'9bfaafb23bfcf6be621d3c172ea65073','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'e3c8a05f8b7735e83843333edf2748cf','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'f17d19ef03a13815f4ba2fa15d4aae3c','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'c742632d64983e3fbe1ee336ad685db1','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'9836eb202887d0d3af51788e559a0789','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'19ff79718e7045eba57f4e6eb1710993','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'c2021742ceb1d3887a149cb9b47d2eeb','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'8cc2e0cd2a3694900a265eb1f0250723','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'2bee2c0c60cddd33096b3c5db05e1b55','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'15eebd92af50ff455a79c9c628cb2560','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'f75b4bd41b5d92f3d1b20a73c93fb66a','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'854afc0d9e87b1ce6bbe02e8e810e6a8','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'639d4451bc6ce1af6c9a24d9d7f48522','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'5ca8a7f43402ba555a019f70aa4cde54','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'c8d6602e9583db0ce0e57d959f86ad81','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'d7e81366a017cf6becf9e4e463b01827','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'575f8765f4b0b8ba432fb1b3d147be6b','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'2472cbabfdf95a3962e40ddcd19b7b64','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'a31ca05e5172769284083051a5aaf35f','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'77ef562f5829f989e30feff9a25b6ece','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'5ad519cfefde51ce30ae5b89d504d2b4','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'87f85881f9987408266495ac132e518d','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'37ef9be490683cce6e1c2837ba9bed4d','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'08f4fff2e88431aff307e359aad1e7e8','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'a363ffe6023e67555370ee1679a404d4','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'8927c7175bd47ade673b4cd95d9afd77','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'3b9eef743e562094ea48771cd08d5da8','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'5a2729772754d1ca8d1f4a1fff37b741','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'8f7a99539b3c9dbf022aab9849bf310b','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'578909712e00120d9a5b9cc700d140c7','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'403d727b8156c97c61116302026e9593','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'5611888b06a4155fed73fe980dc086de','88f669cdfe1bb7afae21c3fb0612093c','fix:');
INSERT INTO rejected VALUES(2,'e70e63006f62646846b5f9ae2d61f168','88f669cdfe1bb7afae21c3fb0612093c','fix:');
CREATE TABLE advice (
	bug INTEGER NOT NULL, 
	run VARCHAR(12) NOT NULL, 
	was_shown BOOLEAN NOT NULL, 
	suggested TEXT NOT NULL, 
	loops TEXT NOT NULL, 
	helped BOOLEAN, 
	PRIMARY KEY (bug, run), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO advice VALUES(1,'a87d7950d334',1,'[]','[]',NULL);
INSERT INTO advice VALUES(1,'ba189f7c8506',1,'[]','[]',NULL);
INSERT INTO advice VALUES(1,'66d1863d6eba',1,'[]','["test at fault"]',NULL);
INSERT INTO advice VALUES(2,'5fbd85ac773d',1,'["test_curve.py test_cubic"]','[]',NULL);
INSERT INTO advice VALUES(2,'ee6010fe8621',1,'["test_curve.py test_cubic"]','[]',NULL);
CREATE TABLE judged (
	bug INTEGER NOT NULL, 
	guide VARCHAR(200) NOT NULL, 
	use VARCHAR(20) NOT NULL, 
	location VARCHAR(500) NOT NULL, 
	verdict VARCHAR(60) NOT NULL, 
	was_faulty BOOLEAN, 
	PRIMARY KEY (bug, guide, use, location), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
CREATE TABLE tool_use (
	bug INTEGER NOT NULL, 
	tool VARCHAR(200) NOT NULL, 
	run INTEGER NOT NULL, 
	n_tried INTEGER NOT NULL, 
	n_verified INTEGER NOT NULL, 
	fate VARCHAR(12) NOT NULL, 
	functions TEXT NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (bug, tool), 
	FOREIGN KEY(bug) REFERENCES bug (seq) ON DELETE CASCADE
);
INSERT INTO tool_use VALUES(2,'change-arithmetic',5,2,0,'','[]','2026-11-27T15:45:13.899989+00:00');
INSERT INTO tool_use VALUES(2,'change-constant',5,2,1,'','["knots.py spread"]','2026-11-27T15:45:13.899989+00:00');
INSERT INTO tool_use VALUES(2,'add-guard',5,12,0,'','[]','2026-11-27T15:45:13.899989+00:00');
INSERT INTO tool_use VALUES(2,'convert',5,26,0,'','[]','2026-11-27T15:45:13.899989+00:00');
INSERT INTO tool_use VALUES(2,'change-return',5,2,0,'','[]','2026-11-27T15:45:13.899989+00:00');
CREATE TABLE posting (
	word BIGINT NOT NULL, 
	failure INTEGER NOT NULL, 
	PRIMARY KEY (word, failure), 
	FOREIGN KEY(failure) REFERENCES failure (seq) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO posting VALUES(392607732110810816,1);
INSERT INTO posting VALUES(579357463810831854,1);
INSERT INTO posting VALUES(579357463810831854,2);
INSERT INTO posting VALUES(1777048558179241967,2);
INSERT INTO posting VALUES(1962443708904939732,1);
INSERT INTO posting VALUES(2172131615908174948,1);
INSERT INTO posting VALUES(2172131615908174948,2);
INSERT INTO posting VALUES(3674312226237497577,1);
INSERT INTO posting VALUES(3674312226237497577,2);
INSERT INTO posting VALUES(4542437519697027074,1);
INSERT INTO posting VALUES(4542437519697027074,2);
INSERT INTO posting VALUES(4640669094367159287,1);
INSERT INTO posting VALUES(4709944174585572206,1);
INSERT INTO posting VALUES(5429080631362106415,1);
INSERT INTO posting VALUES(5539141817730374362,2);
INSERT INTO posting VALUES(5949937950099070247,1);
INSERT INTO posting VALUES(6245522997763567054,1);
INSERT INTO posting VALUES(6245522997763567054,2);
INSERT INTO posting VALUES(6656260635230080498,1);
INSERT INTO posting VALUES(7415406826084856448,1);
INSERT INTO posting VALUES(7466142786971458618,1);
INSERT INTO posting VALUES(8173126069983638719,2);
INSERT INTO posting VALUES(9008491262116005037,1);
INSERT INTO posting VALUES(9022743938833229646,2);
CREATE INDEX run_by_number ON run (project, number);
CREATE INDEX bug_by_run ON bug (run);
CREATE INDEX bug_by_pattern ON bug (project, category, signature);
CREATE INDEX bug_by_state ON bug (state, project);
CREATE INDEX failure_by_fingerprint ON failure (fingerprint);
CREATE INDEX test_by_node ON test (node_id);
CREATE INDEX sighting_of_bug ON sighting (bug, seq);
CREATE INDEX rejected_by_state ON rejected (state);
COMMIT;
